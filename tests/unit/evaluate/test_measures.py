"""Metrics against values worked out by hand, and what holds for any ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluate.figures.measures import METRICS, first_rank, measure

RANKINGS = st.lists(st.lists(st.booleans(), max_size=14), min_size=1, max_size=8)


def figures(flags: list[bool], relevant_count: int) -> dict[str, float]:
    return dict(zip(METRICS, measure([flags], [relevant_count])[0].tolist(), strict=True))


def ranks(*found: int, length: int = 10) -> list[bool]:
    return [rank in found for rank in range(1, length + 1)]


@pytest.mark.parametrize(
    ("flags", "relevant_count", "expected"),
    [
        (ranks(1), 1, (1, 1, 1, 1, 1)),
        (ranks(3), 1, (0, 1, 1, 1 / 3, 1 / math.log2(4))),
        (ranks(6), 1, (0, 0, 1, 1 / 6, 1 / math.log2(7))),
        (ranks(11, length=12), 1, (0, 0, 0, 0, 0)),
        (ranks(), 3, (0, 0, 0, 0, 0)),
        ([], 1, (0, 0, 0, 0, 0)),
        # two of three found: ideal is 1 + 1/log2(3) + 1/log2(4)
        (ranks(2, 5), 3, (0, 1, 1, 1 / 2, (1 / math.log2(3) + 1 / math.log2(6)) / (1 + 1 / math.log2(3) + 0.5))),
        # more were found than were known of: what was found is the ideal
        (ranks(1, 2), 1, (1, 1, 1, 1, 1)),
        # nothing in reach is a miss, not a question passed over
        (ranks(), 0, (0, 0, 0, 0, 0)),
    ],
)
def test_figures_are_those_worked_out_by_hand(
    flags: list[bool], relevant_count: int, expected: tuple[float, ...]
) -> None:
    assert tuple(figures(flags, relevant_count).values()) == pytest.approx(expected)


@given(RANKINGS, st.integers(0, 20))
def test_figures_keep_their_bounds_and_order(rankings: list[list[bool]], relevant_count: int) -> None:
    table = measure(rankings, [relevant_count] * len(rankings))
    assert table.shape == (len(rankings), len(METRICS))
    assert ((table >= 0) & (table <= 1 + 1e-12)).all()
    named = dict(zip(METRICS, table.T, strict=True))
    assert (named["hit@1"] <= named["hit@5"]).all()
    assert (named["hit@5"] <= named["hit@10"]).all()
    assert (named["hit@1"] <= named["mrr@10"]).all()
    assert (named["mrr@10"] <= named["hit@10"]).all()
    for flags, reciprocal in zip(rankings, named["mrr@10"], strict=True):
        rank = first_rank(flags[:10])
        assert reciprocal == pytest.approx(0 if rank is None else 1 / rank)


@given(RANKINGS)
def test_each_question_is_measured_by_itself(rankings: list[list[bool]]) -> None:
    counts = [3] * len(rankings)
    alone = np.concatenate([measure([flags], [3]) for flags in rankings])
    assert np.array_equal(measure(rankings, counts), alone)
    assert np.array_equal(measure(rankings[::-1], counts), alone[::-1])


@given(st.lists(st.booleans(), min_size=2, max_size=10), st.data())
def test_moving_an_answer_up_never_makes_a_figure_smaller(flags: list[bool], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(flags) - 1))
    better = list(flags)
    if flags[place] and not flags[place - 1]:
        better[place - 1], better[place] = True, False
    assert (measure([better], [5]) >= measure([flags], [5]) - 1e-12).all()
