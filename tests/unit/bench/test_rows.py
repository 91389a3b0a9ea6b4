"""The arithmetic of the bench: percentiles, ratios, verdicts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.bench.rows import Timing, against, at_least, at_most, judged, percentile, shown


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert sum(value < found for value in values) < share * len(values) + 1e-9


def test_nothing_measured_has_no_percentile() -> None:
    assert math.isnan(percentile([], 0.5))


def test_a_timing_knows_its_percentiles_and_its_rate() -> None:
    timing = Timing(tuple(float(n) for n in range(1, 101)), 2.0)
    assert (timing.p50, timing.p95, timing.p99, timing.throughput) == (50, 95, 99, 50)


def test_two_rounds_are_one_measurement() -> None:
    both = Timing((1.0, 3.0), 1.0) + Timing((2.0,), 2.0)
    assert (both.p50, both.throughput) == (2, 1)


@pytest.mark.parametrize(
    ("value", "goal", "verdict"),
    [
        (15, at_most(1.5), "met"),
        (15.1, at_most(1.5), "missed"),
        (6, at_least(0.6), "met"),
        (5.9, at_least(0.6), "missed"),
        (5.9, None, "shown"),
    ],
)
def test_a_goal_bounds_the_ratio(value: float, goal: object, verdict: str) -> None:
    row = against("search", "p50", value, "ms", "floor", 10, goal)  # type: ignore[arg-type]
    assert row.ratio == pytest.approx(value / 10)
    assert row.verdict == verdict


def test_a_figure_of_its_own_is_judged_without_a_ratio() -> None:
    row = judged("recall", "recall", 0.979, "", at_least(0.98))
    assert (row.verdict, row.goal, row.ratio) == ("missed", "≥ 0.98", None)


def test_what_was_not_measured_misses_its_goal() -> None:
    assert against("search", "p50", math.nan, "ms", "floor", 10, at_most(1.5)).verdict == "missed"
    assert against("search", "p50", 1, "ms", "floor", 0, at_most(1.5)).verdict == "missed"


def test_a_shown_figure_has_no_verdict() -> None:
    assert shown("search", "p50", 1, "ms").verdict == "shown"
