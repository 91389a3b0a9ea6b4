"""What decided the place of a passage, in words that are true of it whatever the model made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from service.rerank.local.features import FEATURES
from service.types import Passage

_MOST = 4
_LEAST_SHARE = 0.05
"""Of all that was added and taken away; below it nothing was decided."""
_ALL = 1 - 1e-9
_AGAINST = "against it: "


@dataclass(frozen=True, slots=True)
class Seen:
    """A passage as the model saw it: its features by name, and whether a second chunk is nearer than most best ones.

    ``second_is_near`` is None when it has no second chunk. ``has_vectors`` says that the query was embedded.
    """

    features: Mapping[str, float]
    passage_count: int
    second_is_near: bool | None
    has_vectors: bool

    def __getitem__(self, name: str) -> float:
        return self.features[name]


def look(rows: NDArray[np.float64], passages: Sequence[Passage]) -> list[Seen]:
    """What the model saw, ``rows`` being the features of the passages."""
    has_vectors = all(passage.child_distances for passage in passages)
    nearest = float(np.mean([passage.child_distances[0] for passage in passages])) if has_vectors else 0.0
    return [
        Seen(
            MappingProxyType(dict(zip(FEATURES, map(float, row), strict=True))),
            len(passages),
            passage.child_distances[1] < nearest if has_vectors and len(passage.child_distances) > 1 else None,
            has_vectors,
        )
        for row, passage in zip(rows, passages, strict=True)
    ]


def reasons(seen: Seen, shares: NDArray[np.float64]) -> tuple[str, ...]:
    """The main reasons, the one that counted most first; what counted against the passage says so.

    Args:
        shares: what each feature added to the score, ``[feature_count]``.
    """
    by_name = dict(zip(FEATURES, map(float, shares), strict=True))
    sums = {topic: sum(by_name[name] for name in names) for topic, names in _TOPICS.items()}
    least = _LEAST_SHARE * sum(map(abs, sums.values()))
    found = list[str]()
    for topic in sorted(sums, key=lambda topic: -abs(sums[topic])):
        if abs(sums[topic]) <= least or len(found) == _MOST:
            break
        words = _SPEAKS[topic](seen, sums[topic] > 0)
        if words is not None:
            found.append(words if sums[topic] > 0 else _AGAINST + words)
    return tuple(found)


def _fused(seen: Seen, good: bool) -> str | None:
    place = round(1 / seen["fused_rank"])
    return f"place {place} in the fused order" if good or place > 1 else None


def _meaning(seen: Seen, good: bool) -> str | None:
    if not seen.has_vectors:
        return None
    if good:
        if seen["similarity_gap"] == 0:
            return "no passage is closer in meaning"
        return "closer in meaning than the average" if seen["similarity"] > 0 else None
    if seen["similarity"] < 0:
        return "farther in meaning than the average"
    return "others are closer in meaning" if seen["similarity_gap"] < 0 else None


def _second(seen: Seen, good: bool) -> str | None:
    if seen.second_is_near is None or seen.second_is_near != good:
        return None
    return "its second chunk is close as well" if good else "its other chunks are not close"


def _leg(seen: Seen, good: bool) -> str | None:
    if seen["fts_rank"] == 0:
        return None if good else "not among the hits by words"
    place = round(1 / seen["fts_rank"])
    return f"place {place} among the hits by words" if good or place > 1 else None


def _words(seen: Seen, good: bool) -> str | None:
    if good:
        if seen["coverage"] >= _ALL:
            return "all words of the question"
        if seen["coverage"] > 0.5:
            return "covers most of the question"
        return "no passage covers more of the question" if _is_best(seen, "coverage") else None
    return "others cover more of the question" if seen["coverage_gap"] < 0 else None


def _window(seen: Seen, good: bool) -> str | None:
    if good:
        if seen["window_coverage"] > 0.5:
            return "words of the question close together"
        return "no passage has more of the question in one place" if _is_best(seen, "window_coverage") else None
    return "others have more of the question in one place" if seen["window_coverage_gap"] < 0 else None


def _run(seen: Seen, good: bool) -> str | None:
    if good:
        if seen["run"] >= _ALL:
            return "a stretch as long as the question in its own words"
        return "no passage has a longer stretch of the question" if _is_best(seen, "run") else None
    return "others have a longer stretch of the question" if seen["run_gap"] < 0 else None


def _named_in(place: str) -> Callable[[Seen, bool], str | None]:
    def say(seen: Seen, good: bool) -> str | None:
        covered = seen[f"{place}_coverage"]
        if not good:
            return None if covered else f"no word of the question in the {place}"
        return f"{'all ' if covered >= _ALL else ''}words of the question in the {place}" if covered else None

    return say


def _document(seen: Seen, good: bool) -> str | None:
    count = round(seen["document_passages"] * seen.passage_count)
    if good:
        return f"{count} passages of its document were found" if count > 1 else None
    return None if count > 1 else "the only passage of its document that was found"


def _neighbour(seen: Seen, good: bool) -> str | None:
    fits = seen["neighbour_coverage"] > 0 or (seen.has_vectors and seen["neighbour_similarity"] > 0)
    return "the passage next to it fits as well" if fits else None


def _is_best(seen: Seen, name: str) -> bool:
    return seen[name] > 0 and seen[f"{name}_gap"] == 0


_TOPICS = {
    "fused": ("rrf_share", "fused_rank"),
    "meaning": ("vector_rank", "similarity", "similarity_gap"),
    "second": ("second_similarity", "mean_similarity"),
    "leg": ("fts_rank", "fts_share"),
    "words": ("coverage", "coverage_gap", "bm25", "bm25_share"),
    "window": ("window_coverage", "window_coverage_gap"),
    "run": ("run", "run_gap"),
    "heading": ("heading_coverage",),
    "title": ("title_coverage",),
    "document": ("document_rrf_share", "document_rrf_sum", "document_passages", "document_similarity"),
    "neighbour": ("neighbour_similarity", "neighbour_coverage"),
}
"""Features that say the same to a person."""

_SPEAKS: dict[str, Callable[[Seen, bool], str | None]] = {
    "fused": _fused,
    "meaning": _meaning,
    "second": _second,
    "leg": _leg,
    "words": _words,
    "window": _window,
    "run": _run,
    "heading": _named_in("heading"),
    "title": _named_in("title"),
    "document": _document,
    "neighbour": _neighbour,
}
"""The words for a topic that counted for the passage, or against it; None when none would be true."""
