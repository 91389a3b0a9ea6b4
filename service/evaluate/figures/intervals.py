"""How sure a figure is: resampling of the questions, which could as well have been others of their kind.

The percentile bootstrap for means, and for the difference of two runs over the same questions the randomisation test
(Smucker, Allan, Carterette: A comparison of statistical significance tests for information retrieval evaluation, 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95
LEVEL = 0.05
"""A difference that chance makes more often than this is noise."""
_AT_ONCE = 500

type Columns = NDArray[np.float64]  # one number a column


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds that hold it with 95 % confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference, its interval, and ``p_value``: how often chance alone makes one at least as large."""

    value: float
    low: float
    high: float
    p_value: float


def intervals(figures: NDArray[np.float64], seed: int, resamples: int = RESAMPLES) -> list[Interval]:
    """Mean and interval of each column of ``figures`` [question_count, column_count]; same seed, same answer."""
    means, low, high = _bootstrap(figures, seed, resamples)
    return [Interval(*map(float, three)) for three in zip(means, low, high, strict=True)]


def differences(
    before: NDArray[np.float64], after: NDArray[np.float64], seed: int, resamples: int = RESAMPLES
) -> list[Difference]:
    """Difference ``after - before`` of each column, question by question (two-sided, paired).

    Args:
        before, after: figures of the same questions in the same order, [question_count, column_count].
    """
    change = after - before
    means, low, high = _bootstrap(change, seed, resamples)
    rng = np.random.default_rng([seed, 1])
    at_least = np.zeros(change.shape[1])
    # sums of the same numbers in another order differ by rounding
    bar = np.abs(means) - 1e-12
    for size in _sizes(resamples):
        signs = rng.integers(0, 2, (size, len(change)), dtype=np.int8) * 2.0 - 1
        at_least += (np.abs(signs @ change / len(change)) >= bar).sum(axis=0)
    p_values = (at_least + 1) / (resamples + 1)
    return [Difference(*map(float, four)) for four in zip(means, low, high, p_values, strict=True)]


def _bootstrap(figures: NDArray[np.float64], seed: int, resamples: int) -> tuple[Columns, Columns, Columns]:
    count = len(figures)
    if count == 0:
        raise ValueError("there is no mean of no questions")
    rng = np.random.default_rng([seed, 0])
    means = []
    for size in _sizes(resamples):
        # how often each question is drawn, for all columns at once
        drawn = rng.multinomial(count, np.full(count, 1 / count), size)
        means.append(drawn @ figures / count)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return figures.mean(axis=0), low, high


def _sizes(resamples: int) -> list[int]:
    return [min(_AT_ONCE, resamples - begun) for begun in range(0, resamples, _AT_ONCE)]
