"""Nothing a model answers is believed unseen: count, dimension, finite, not zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from service.errors import EmbeddingDimension, EmbeddingFailed
from service.types import Vector


def by_index(rows: Any, count: int) -> list[Any]:
    """``embedding`` of each row in the order of the rows' ``index``, not of their arrival.

    Raises:
        EmbeddingFailed: not a list of ``count`` rows, or an index is missing, doubled or out of range.
    """
    if not isinstance(rows, list):
        raise EmbeddingFailed("the embedding answer holds no list of vectors")
    require_count(len(rows), count)
    ordered: dict[int, Any] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, Mapping) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise EmbeddingFailed(f"an embedding came with index {index!r}, expected 0 to {count - 1}")
        if index in ordered:
            raise EmbeddingFailed(f"two embeddings came with index {index}")
        ordered[index] = row.get("embedding")
    return [ordered[index] for index in range(count)]


def require_count(received: int, count: int) -> None:
    """Raises EmbeddingFailed unless every text got one vector."""
    if received != count:
        raise EmbeddingFailed(f"{received} vectors came back for {count} texts", received=received, expected=count)


def checked(numbers: object, dimension: int) -> Vector:
    """The numbers as float32 ``[dimension]``.

    Raises:
        EmbeddingDimension: another dimension; the message has both.
        EmbeddingFailed: no numbers, a number that is not finite, or all zero (a zero vector has no cosine).
    """
    try:
        with np.errstate(over="ignore"):
            vector = np.asarray(numbers, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingFailed("the embedding is no list of finite numbers") from error
    if vector.ndim != 1:
        raise EmbeddingFailed("the embedding is no flat list of numbers")
    if vector.shape[0] != dimension:
        raise EmbeddingDimension(
            f"the model gives vectors of {vector.shape[0]} numbers, {dimension} are configured",
            received=vector.shape[0],
            configured=dimension,
        )
    finite = np.isfinite(vector)
    if not finite.all():
        at = int(np.argmin(finite))
        raise EmbeddingFailed(f"the embedding is not finite (non-finite number {vector[at]} at component {at})")
    if not vector.any():
        raise EmbeddingFailed("the embedding is all zero")
    return vector
