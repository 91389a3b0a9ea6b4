"""Cuts by meaning: where several sentence ends lie near the budget, take the one where the subject changes most."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np

from service.errors import EmbeddingFailed
from service.types import VectorBatch

type SentenceEmbedder = Callable[[Sequence[str]], VectorBatch]
"""Embeddings of sentences, shape ``[sentence_count, dimension]``, in order."""

# A chunk may close early once this share of its budget is filled: less makes chunks too small to be understood.
_FILLED = 0.6


class SoftCuts:
    """Chooses among the places where a chunk may close."""

    def __init__(self, text: str, starts: list[int], ends: list[int], embed: SentenceEmbedder) -> None:
        self._starts = starts
        self._ends = ends
        self._shifts = _subject_shifts([text[start:end] for start, end in zip(starts, ends, strict=True)], embed)

    def choose(self, first: int, least: int, latest: int, size: int) -> int:
        """End of a group that starts with sentence ``first``: from ``least`` to ``latest``, the latest among equals."""
        filled = bisect_left(self._ends, self._starts[first] + size * _FILLED, first, latest) + 1
        return max(range(min(max(filled, least), latest), latest + 1), key=lambda stop: (self._shifts[stop], stop))


def _subject_shifts(sentences: Sequence[str], embed: SentenceEmbedder) -> list[float]:
    """Cosine distance between each sentence and the one before it, 0 at both ends; shape ``[sentence_count + 1]``.

    Raises:
        EmbeddingFailed: other than one finite vector a sentence came back.
    """
    if len(sentences) < 2:
        return [0.0] * (len(sentences) + 1)
    vectors = np.asarray(embed(sentences), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(sentences) or not np.isfinite(vectors).all():
        raise EmbeddingFailed(f"{len(sentences)} sentences gave embeddings of shape {vectors.shape}")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-12)
    distances: list[float] = (1 - (vectors[:-1] * vectors[1:]).sum(axis=1)).round(6).tolist()
    return [0.0, *distances, 0.0]
