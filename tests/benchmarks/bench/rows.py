"""One line of the result: a figure, what it is compared with in the same run, and whether the goal is met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

type Verdict = Literal["met", "missed", "shown"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound of the ratio; both ends belong to it."""

    bound: float
    kind: Literal["at most", "at least"]

    def holds(self, ratio: float) -> bool:
        """Whether a ratio meets it; one that is not a number does not."""
        return ratio <= self.bound if self.kind == "at most" else ratio >= self.bound

    def __str__(self) -> str:
        return f"{'≤' if self.kind == 'at most' else '≥'} {self.bound:g}"


def at_most(bound: float) -> Goal:
    """The ratio must not be larger."""
    return Goal(bound, "at most")


def at_least(bound: float) -> Goal:
    """The ratio must not be smaller."""
    return Goal(bound, "at least")


@dataclass(frozen=True, slots=True)
class Row:
    """A figure. ``ratio`` is value ÷ reference_value, or the value itself where a goal is about the figure alone."""

    part: str
    name: str
    value: float
    unit: str
    reference: str | None = None
    reference_value: float | None = None
    ratio: float | None = None
    goal: str | None = None
    verdict: Verdict = "shown"
    note: str | None = None


def shown(part: str, name: str, value: float, unit: str, note: str | None = None) -> Row:
    """A figure without a comparison."""
    return Row(part, name, value, unit, note=note)


def judged(part: str, name: str, value: float, unit: str, goal: Goal, note: str | None = None) -> Row:
    """A figure with a bound of its own."""
    return Row(part, name, value, unit, goal=str(goal), verdict=_verdict(goal, value), note=note)


def against(
    part: str,
    name: str,
    value: float,
    unit: str,
    reference: str,
    reference_value: float,
    goal: Goal | None = None,
    note: str | None = None,
) -> Row:
    """A figure beside another of the same run; the goal bounds their ratio."""
    ratio = value / reference_value if reference_value else math.inf
    verdict: Verdict = "shown" if goal is None else _verdict(goal, ratio)
    return Row(part, name, value, unit, reference, reference_value, ratio, goal and f"{goal}×", verdict, note)


def _verdict(goal: Goal, value: float) -> Verdict:
    return "met" if goal.holds(value) else "missed"


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of the requests that clients made one after the other, and how long all of it took."""

    milliseconds: tuple[float, ...]
    seconds: float

    @property
    def throughput(self) -> float:
        """Answers a second."""
        return len(self.milliseconds) / self.seconds if self.seconds else 0.0

    @property
    def p50(self) -> float:
        """Half of the requests took no longer, in ms."""
        return percentile(self.milliseconds, 0.50)

    @property
    def p95(self) -> float:
        """See `p50`."""
        return percentile(self.milliseconds, 0.95)

    @property
    def p99(self) -> float:
        """See `p50`."""
        return percentile(self.milliseconds, 0.99)

    def __add__(self, other: Timing) -> Timing:
        """Both after one another, as one measurement."""
        return Timing(self.milliseconds + other.milliseconds, self.seconds + other.seconds)


def percentile(values: Sequence[float], share: float) -> float:
    """Smallest of the values that ``share`` of them do not exceed; not a number when there is none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
