"""Checks of what a provider answered; an answer that cannot be right is used in no part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from service.errors import RerankerUnavailable


def scores_of(rows: Any, key: str, count: int) -> dict[int, float]:
    """Score by position for ``count`` documents; a provider may leave some out, but not all.

    Args:
        rows: objects with an ``index`` and a score; whatever else they hold does not matter.
        key: where the score is.

    Raises:
        RerankerUnavailable: no list, an index out of range or twice, a score that is no finite number, or no row.
    """
    if not isinstance(rows, list):
        raise RerankerUnavailable("the rerank answer has no list of scores")
    scores: dict[int, float] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, Mapping) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise RerankerUnavailable(f"the rerank answer has index {index!r}, with {count} documents sent")
        if index in scores:
            raise RerankerUnavailable(f"the rerank answer has index {index} twice")
        scores[index] = _finite(row.get(key), key, index)
    if not scores:
        raise RerankerUnavailable(f"the rerank answer scores none of {count} documents")
    return scores


def _finite(score: Any, key: str, index: int) -> float:
    try:
        number = math.nan if isinstance(score, bool | str) else float(score)
    except (TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RerankerUnavailable(f"the rerank answer has no finite `{key}` for index {index}: {str(score)[:40]}")
    return number
