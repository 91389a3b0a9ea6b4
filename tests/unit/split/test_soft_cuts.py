"""Cuts by meaning, with embeddings that say openly what a sentence is about."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from service.config import SplitSettings
from service.errors import EmbeddingFailed, InvalidSettings
from service.split import split
from service.types import VectorBatch
from tests.unit.split import check_rules, child_spans, parent_spans, plain

SUBJECTS = "猫狗鱼鸟"


def embed(sentences: Sequence[str]) -> VectorBatch:
    """One axis a subject."""
    return np.array([[float(subject in sentence) + 0.01 for subject in SUBJECTS] for sentence in sentences], np.float32)


def about(subject: str, count: int) -> str:
    return f"这里有九个字说{subject}。" * count


def test_a_chunk_closes_where_the_subject_changes() -> None:
    text = about("猫", 8) + about("狗", 12)
    settings = SplitSettings(strategy="sentence", child_size=90, parent_size=90, parent_overlap=0)
    hard = split(plain(text), settings)
    soft = split(plain(text), settings.model_copy(update={"soft_cut": True}), embed)
    assert parent_spans(hard)[0] == (0, 90)
    assert parent_spans(soft)[0] == (0, 72)
    assert child_spans(soft)[0] == (0, 72)
    assert soft.settings_hash != hard.settings_hash


def test_a_change_far_below_the_budget_is_no_reason() -> None:
    text = about("猫", 3) + about("狗", 20)
    settings = SplitSettings(strategy="sentence", child_size=90, parent_size=90, parent_overlap=0, soft_cut=True)
    assert parent_spans(split(plain(text), settings, embed))[0] == (0, 90)


def test_without_an_embedder_it_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="soft_cut"):
        split(plain("字。"), SplitSettings(soft_cut=True))


@pytest.mark.parametrize("shape", [(1, 4), (3,), (3, 0, 1)])
def test_nonsense_from_the_embedder_is_refused(shape: tuple[int, ...]) -> None:
    settings = SplitSettings(strategy="sentence", soft_cut=True)
    with pytest.raises(EmbeddingFailed):
        split(plain("一。二。三。"), settings, lambda sentences: np.full(shape, 1.0, np.float32))
    with pytest.raises(EmbeddingFailed):
        split(plain("一。二。三。"), settings, lambda sentences: np.full((3, 4), np.nan, np.float32))


@hypothesis_settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*SUBJECTS, "字" * 30, "。", "！\n"]), max_size=80).map("".join), st.integers(1, 60))
def test_the_rules_hold(text: str, child_size: int) -> None:
    settings = SplitSettings(
        strategy="sentence", child_size=child_size, parent_size=100, parent_overlap=0, soft_cut=True
    )
    chunks = split(plain(text), settings, embed)
    check_rules(text, chunks)
    assert chunks == split(plain(text), settings, embed)
    for child, next_child in pairwise(chunks.children):
        assert child.start < next_child.start
        assert child.end < next_child.end
