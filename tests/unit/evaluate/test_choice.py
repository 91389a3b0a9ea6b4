"""What is tried, which of it is chosen, and when it is worth a change."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from service.cli.evaluate.tuning_tables import show_tuning
from service.config import SearchSettings
from service.evaluate.figures.measures import METRICS
from service.evaluate.run.ask import Stage
from service.evaluate.tune.choice import (
    Setting,
    best_column,
    defaults_of,
    difference_over_sets,
    fusions_to_try,
    halves,
)
from service.evaluate.tune.fusion import Fusion
from service.evaluate.tune.recommend import report_of
from service.evaluate.tune.tuning import METRIC, HeldOut, Tried, Tuning

RNG = np.random.default_rng(11)
PRESENT = Setting(Fusion(70, 30, 60, 50), heading_context=True)
OTHER = Setting(Fusion(40, 60, 20, 100, "pairs"), heading_context=False)


def test_the_settings_in_force_come_first_and_nothing_twice() -> None:
    tried = fusions_to_try(SearchSettings())
    assert tried[0] == PRESENT.fusion == defaults_of(SearchSettings())
    # with each share of the fts leg but 0 words, pairs or both
    assert len(tried) == len(set(tried)) == (10 * 3 + 1) * 5 * 4
    assert all(fusion.vector_weight + fusion.fts_weight > 0 for fusion in tried)


def test_settings_of_ones_own_are_tried_within_the_bounds() -> None:
    tried = fusions_to_try(SearchSettings(vector_weight=3, fts_weight=2, rrf_k=7, candidates=30, max_candidates=60))
    assert tried[0] == Fusion(3, 2, 7, 30)
    assert {fusion.candidates for fusion in tried} == {20, 30, 50}


@given(st.integers(2, 500), st.integers(0, 50))
def test_halves_share_no_question_and_lose_none(count: int, seed: int) -> None:
    tuning, held_out = halves(count, seed)
    assert sorted([*tuning, *held_out]) == list(range(count))
    assert abs(len(tuning) - len(held_out)) <= 1
    assert [each.tolist() for each in halves(count, seed)] == [tuning.tolist(), held_out.tolist()]


def test_sets_have_the_same_weight_whatever_their_size() -> None:
    large, small = np.tile([0.9, 0.8, 0.8], (1000, 1)), np.tile([0.1, 0.3, 0.3], (10, 1))
    assert best_column([large]) == 0
    assert best_column([large, small]) == 1  # of equals the first
    found = difference_over_sets({"a": (large[:, 0], large[:, 1]), "b": (small[:, 0], small[:, 1])}, seed=0)
    assert found.value == pytest.approx((-0.1 + 0.2) / 2)


def held_out(setting: Setting, **stages: np.ndarray) -> HeldOut:
    figures = {Stage(stage): np.tile(values[:, None], (1, len(METRICS))) for stage, values in stages.items()}
    return HeldOut(setting, {"set": figures})


def tuning(present: HeldOut, chosen: HeldOut | None) -> Tuning:
    tried = (Tried(PRESENT, 0.5, {"set": 0.5}), Tried(OTHER, 0.6, {"set": 0.6}))
    last = list(present.figures["set"])[-1]
    return Tuning({"set": (150, 150)}, tried, OTHER if chosen else PRESENT, present, chosen, last)


def test_what_is_better_beyond_noise_is_recommended_with_its_variables() -> None:
    before = RNG.random(150)
    report = report_of(tuning(held_out(PRESENT, rrf=before), held_out(OTHER, rrf=before + 0.05)), seed=0)
    assert report["metric"] == METRIC
    assert report["recommended"] == {
        "FUZI_SEARCH__VECTOR_WEIGHT": "40",
        "FUZI_SEARCH__FTS_WEIGHT": "60",
        "FUZI_SEARCH__RRF_K": "20",
        "FUZI_SEARCH__CANDIDATES": "100",
        "FUZI_SEARCH__FTS_TERMS": "pairs",
        "FUZI_EMBED__HEADING_CONTEXT": "false",
    }
    own = {"vector_weight": 40, "fts_weight": 60, "rrf_k": 20, "candidates": 100, "fts_terms": "pairs"}
    assert report["collection_settings"] == own
    assert report["takes_in_anew"] is True
    printed = Console(file=StringIO(), width=150)
    show_tuning(printed, report)
    text = printed.file.getvalue()  # type: ignore[attr-defined]
    for words in ("FUZI_SEARCH__RRF_K=20", '"rrf_k": 20', "take the documents in anew", "+0.050"):
        assert words in text
    assert report["rerank"] is None


def test_noise_is_not_recommended_however_well_it_tuned() -> None:
    before = RNG.random(150)
    after = before + RNG.normal(0.005, 0.2, 150)
    report = report_of(tuning(held_out(PRESENT, rrf=before), held_out(OTHER, rrf=after)), seed=0)
    assert report["recommended"] == {}
    assert report["held_out"]["rrf"]["beyond_noise"] is False


def test_the_last_stage_decides() -> None:
    """A better fusion that the reranker levels out is not worth a change."""
    before = RNG.random(150)
    report = report_of(
        tuning(held_out(PRESENT, rrf=before, rerank=before), held_out(OTHER, rrf=before + 0.1, rerank=before)), seed=0
    )
    assert report["held_out"]["rrf"]["beyond_noise"] is True
    assert (report["decided_by"], report["recommended"]) == ("rerank", {})


def test_the_reranker_is_compared_with_the_order_it_was_given() -> None:
    before = RNG.random(150)
    report = report_of(tuning(held_out(PRESENT, rrf=before, rerank=before - 0.1), None), seed=0)
    assert report["held_out"] == {}
    assert report["rerank"]["difference"]["value"] == pytest.approx(-0.1)
    assert report["rerank"]["beyond_noise"] is False
