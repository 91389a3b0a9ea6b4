"""Two results side by side: is the difference more than chance, and which questions made it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from service.errors import InvalidInput
from service.evaluate.figures.intervals import Difference, differences
from service.evaluate.figures.measures import METRICS
from service.types import JsonObject


@dataclass(frozen=True, slots=True)
class Changed:
    """A question whose answer became better or worse; ranks are of the first passage that counts."""

    id: str
    text: str
    rank_before: int | None
    rank_after: int | None
    change: float


@dataclass(frozen=True, slots=True)
class StageComparison:
    """One stage before and after: per metric both means and the difference, and the questions that changed most."""

    stage_before: str
    stage_after: str
    question_count: int
    before: dict[str, float]
    after: dict[str, float]
    differences: dict[str, Difference]
    improved: int
    worsened: int
    changed: tuple[Changed, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All stages that can be compared; ``notices`` say what else differs."""

    stages: tuple[StageComparison, ...]
    notices: tuple[str, ...]


def compare(
    before: JsonObject,
    after: JsonObject,
    *,
    seed: int,
    stages: tuple[str | None, str | None] = (None, None),
    shown: int = 10,
) -> Comparison:
    """Compare two results over the questions that both have.

    Args:
        stages: a stage of each result; None compares all that both have, or the same as the other's.
        shown: how many changed questions to name for each stage.

    Raises:
        InvalidInput: they have no question or no stage in common.
    """
    asked = {question["id"]: question for question in before["questions"]}
    both = [(asked[each["id"]], each) for each in after["questions"] if each["id"] in asked]
    both = [(one, other) for one, other in both if one["text"] == other["text"]]
    if not both:
        raise InvalidInput("the two results have no question in common")
    pairs = _pairs(before, after, stages)
    notices = _other_differences(before, after, len(both))
    return Comparison(tuple(_compare_stage(both, pair, seed, shown) for pair in pairs), tuple(notices))


def _pairs(before: JsonObject, after: JsonObject, stages: tuple[str | None, str | None]) -> list[tuple[str, str]]:
    if stages == (None, None):
        pairs = [(stage, stage) for stage in before["stages"] if stage in after["stages"]]
        if not pairs:
            raise InvalidInput("the two results have no stage in common; name them as NAME:STAGE")
        return pairs
    pair = (stages[0] or stages[1] or "", stages[1] or stages[0] or "")
    for result, stage in zip((before, after), pair, strict=True):
        if stage not in result["stages"]:
            raise InvalidInput(f"the result {result['name']} has no stage {stage}, only {', '.join(result['stages'])}")
    return [pair]


def _compare_stage(
    both: list[tuple[JsonObject, JsonObject]], pair: tuple[str, str], seed: int, shown: int
) -> StageComparison:
    answers = [(one["stages"][pair[0]], other["stages"][pair[1]]) for one, other in both]
    earlier, later = (
        np.array([[answer[side]["metrics"][metric] for metric in METRICS] for answer in answers]) for side in (0, 1)
    )
    # reciprocal rank says how much a person notices; nDCG decides between equals
    key = [METRICS.index("mrr@10"), METRICS.index("ndcg@10")]
    change = (later - earlier)[:, key]
    order = sorted(
        np.flatnonzero(change.any(axis=1)), key=lambda row: (-abs(change[row, 0]), -abs(change[row, 1]), row)
    )
    changed = tuple(
        Changed(
            both[row][1]["id"],
            both[row][1]["text"],
            answers[row][0]["first_rank"],
            answers[row][1]["first_rank"],
            float(change[row, 0]),
        )
        for row in order[:shown]
    )
    found = differences(earlier, later, seed)
    return StageComparison(
        *pair,
        len(both),
        dict(zip(METRICS, earlier.mean(axis=0).tolist(), strict=True)),
        dict(zip(METRICS, later.mean(axis=0).tolist(), strict=True)),
        dict(zip(METRICS, found, strict=True)),
        int((change[:, 0] > 0).sum()),
        int((change[:, 0] < 0).sum()),
        changed,
    )


def _other_differences(before: JsonObject, after: JsonObject, common: int) -> list[str]:
    notices = []
    counts = {before["question_count"], after["question_count"]}
    if counts != {common}:
        notices.append(
            f"{common} questions are in both results, of {before['question_count']} and {after['question_count']}"
        )
    if before["questions_sha256"] != after["questions_sha256"] and counts == {common}:
        notices.append("the questions are the same, but not what counts as their answers")
    if before["corpus"]["sha256"] != after["corpus"]["sha256"]:
        notices.append("the documents are not the same")
    notices += [f"{place}: {one} → {other}" for place, one, other in _unequal(before, after)]
    return notices


def _unequal(before: JsonObject, after: JsonObject) -> list[tuple[str, Any, Any]]:
    """Settings, model and versions that differ, by their dotted names."""
    found = []
    for part in ("settings", "model", "reranker", "versions"):
        earlier, later = _flat(part, before[part]), _flat(part, after[part])
        for place in sorted(earlier.keys() | later.keys()):
            one, other = earlier.get(place), later.get(place)
            if one != other:
                found.append((place, one, other))
    return found


def _flat(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {place: value}
    return {key: inner for name, each in value.items() for key, inner in _flat(f"{place}.{name}", each).items()}
