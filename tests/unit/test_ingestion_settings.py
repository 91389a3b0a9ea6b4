"""What a collection has of its own for ingestion, and the fingerprint by which a change of it is seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from service.config import EmbedSettings, ExtractSettings, Settings, SplitSettings
from service.config.collection import CollectionSettings
from service.config.ingestion import (
    CollectionIngestion,
    IngestionSettings,
    reading_in,
    settings_hash,
    with_context,
)

SERVICE = IngestionSettings(SplitSettings(), ExtractSettings(), heading_context=True)
PDF, TEXT = "application/pdf", "text/markdown"


def own(**settings: Any) -> IngestionSettings:
    return SERVICE.with_own(CollectionIngestion.read(settings))


def printed(settings: IngestionSettings, media_type: str = PDF) -> str:
    return settings.fingerprint(settings.reading(media_type))


def test_of_the_service_are_those_of_its_settings() -> None:
    settings = Settings(
        _env_file=None,
        split=SplitSettings(child_size=77),
        embed=EmbedSettings(heading_context=False),
        extract=ExtractSettings(close_gaps=False),
    )
    taken = IngestionSettings.of(settings)
    assert (taken.split, taken.heading_context) == (settings.split, False)
    assert taken.reading(PDF) == "join_lines+drop_furniture"


def test_what_a_collection_leaves_out_is_that_of_the_service() -> None:
    changed = own(child_size=150, sentence_hard_limit="none", reflow=False, heading_context=False, top_n=3)
    assert changed.split == SplitSettings(child_size=150, sentence_hard_limit=None)
    assert (changed.extract.reflow, changed.heading_context) == (False, False)
    assert own(top_n=3) == SERVICE


def test_every_way_of_cutting_but_a_path_of_the_server_can_be_that_of_a_collection() -> None:
    assert set(CollectionIngestion.model_fields) == {*SplitSettings.model_fields, "reflow", "heading_context"} - {
        "tokenizer_file"
    }
    assert set(CollectionSettings.model_fields) > set(CollectionIngestion.model_fields)


@pytest.mark.parametrize(
    "settings",
    [
        {"child_size": 0},
        {"child_size": "150"},
        {"child_size": 801},
        {"parent_size": 100},
        {"soft_tokens": 601},
        {"parent_overlap": 800},
        {"sentence_hard_limit": "never"},
        {"sentence_hard_limit": 0},
        {"strategy": "clever"},
        {"reflow": "no"},
        {"heading_context": 1},
    ],
)
def test_what_cannot_hold_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        own(**settings)


def test_the_fingerprint_of_default_settings_is_that_of_the_cut_alone() -> None:
    """Documents of earlier versions have just this one, and are not outdated by an upgrade."""
    assert printed(SERVICE) == printed(SERVICE, TEXT) == settings_hash(SplitSettings())


def test_mending_pages_concerns_only_what_has_pages() -> None:
    assert printed(own(reflow=False), TEXT) == printed(SERVICE, TEXT)
    assert printed(own(reflow=False)) == settings_hash(SplitSettings()) + "/pages:as_laid_out"
    assert printed(own(reflow=False), "message/rfc822") != printed(SERVICE, "message/rfc822")


_OWN = st.fixed_dictionaries(
    {},
    optional={
        "strategy": st.sampled_from(["auto", "sentence", "structure"]),
        "child_size": st.integers(1, 800),
        "parent_overlap": st.integers(0, 799),
        "sentence_hard_limit": st.one_of(st.just("none"), st.integers(1, 1000)),
        "soft_cut": st.booleans(),
        "reflow": st.booleans(),
        "heading_context": st.booleans(),
    },
)


@given(_OWN, _OWN)
def test_fingerprints_are_equal_just_when_the_settings_are(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (printed(own(**one)) == printed(own(**other))) == (own(**one) == own(**other))


@given(_OWN, st.booleans())
def test_the_parts_of_a_fingerprint_are_told_apart(settings: dict[str, Any], context: bool) -> None:
    assert reading_in(printed(own(**settings))) == own(**settings).reading(PDF)
    assert with_context(printed(own(**settings)), context) == printed(own(**{**settings, "heading_context": context}))
