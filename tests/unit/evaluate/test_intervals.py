"""Statistics on data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.evaluate.figures.intervals import differences, intervals

RNG = np.random.default_rng(7)


def test_the_interval_is_as_wide_as_theory_says() -> None:
    """95 % of a mean of 400 fair coins: 0.5 ± 1.96 · 0.5 / 20."""
    coins = np.array([[0.0], [1.0]] * 200)
    (found,) = intervals(coins, seed=1)
    assert found.value == 0.5
    assert (found.low, found.high) == pytest.approx((0.451, 0.549), abs=0.006)


def test_the_same_seed_gives_the_same_interval() -> None:
    figures = RNG.random((60, 3))
    assert intervals(figures, seed=5) == intervals(figures, seed=5)
    assert intervals(figures, seed=5) != intervals(figures, seed=6)


def test_questions_that_agree_leave_nothing_to_doubt() -> None:
    (found,) = intervals(np.full((30, 1), 0.25), seed=0)
    assert (found.value, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))


def test_without_questions_there_is_no_mean() -> None:
    with pytest.raises(ValueError, match="no questions"):
        intervals(np.zeros((0, 5)), seed=0)


def test_chance_alone_is_no_difference() -> None:
    """Under the null hypothesis p-values are spread evenly: of 200 runs about a twentieth lies below 0.05."""
    before, noise = RNG.random((80, 200)), RNG.normal(0, 0.1, (80, 200))
    p_values = [found.p_value for found in differences(before, before + noise, seed=0, resamples=2000)]
    assert 0 < sum(p < 0.05 for p in p_values) < 24
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.08)


def test_a_shift_is_found_with_its_size() -> None:
    before = RNG.random((200, 1))
    (found,) = differences(before, before + RNG.normal(0.05, 0.1, (200, 1)), seed=0)
    assert found.p_value < 0.001
    assert found.low < 0.05 < found.high
    assert found.low > 0


def test_no_change_at_all_has_a_p_value_of_one() -> None:
    figures = RNG.random((50, 2))
    for found in differences(figures, figures, seed=0):
        assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_a_few_questions_are_counted_exactly() -> None:
    """Of three equal changes 2 of the 8 sign patterns are as extreme: p is a quarter."""
    (found,) = differences(np.zeros((3, 1)), np.full((3, 1), 0.2), seed=0)
    assert found.p_value == pytest.approx(0.25, abs=0.02)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30), st.integers(0, 99))
def test_swapping_both_sides_changes_only_the_sign(pairs: list[tuple[float, float]], seed: int) -> None:
    both = np.array(pairs)
    (there,) = differences(both[:, :1], both[:, 1:], seed=seed, resamples=300)
    (back,) = differences(both[:, 1:], both[:, :1], seed=seed, resamples=300)
    assert there.value == pytest.approx(-back.value)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p_value == back.p_value
    assert there.low - 1e-9 <= there.value <= there.high + 1e-9
