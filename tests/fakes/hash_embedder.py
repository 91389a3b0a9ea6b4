"""A fast, honest stand-in for a model: texts that share characters get close vectors, always the same ones."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from service.config import LOCAL_DIMENSION, LOCAL_MODEL
from service.db.spaces import EmbeddingSpace
from service.embed import Embedder, FollowingEmbedder
from service.embed.texts import sendable, sendable_all
from service.errors import Misconfigured
from service.types import EmbeddingModel, Vector, VectorBatch


class HashEmbedder:
    """An ``Embedder`` by feature hashing of character 1- to 3-grams, L2-normalised.

    It knows no meaning, only spelling; two texts with the same n-grams get the same vector, and queries are embedded
    as passages are. It bears the name of the model that a fresh database has. ``calls`` records what was asked, for
    tests that count.
    """

    def __init__(self, dimension: int = LOCAL_DIMENSION, name: str = LOCAL_MODEL) -> None:
        self.model = EmbeddingModel("local", name, dimension)
        self.calls: list[tuple[str, int]] = []
        self.closed = False

    async def embed_query(self, text: str) -> Vector:
        self.calls.append(("query", 1))
        return self.vector_of(sendable(text))

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """Remembers nothing: each query is embedded when it is asked for."""
        self.calls.append(("queries", len(texts)))

    def knows_query(self, text: str) -> bool:
        return False

    async def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> VectorBatch:
        self.calls.append(("passage", len(texts)))
        vectors = np.empty((len(texts), self.model.dimension), dtype=np.float32)
        for position, text in enumerate(sendable_all(texts)):
            vectors[position] = self.vector_of(text)
            if on_progress is not None:
                on_progress(position + 1)
        return vectors

    async def close(self) -> None:
        self.closed = True

    def vector_of(self, text: str) -> Vector:
        """The vector of one text, for fakes that answer in its place."""
        vector = np.zeros(self.model.dimension, dtype=np.float64)
        for gram, count in _grams(text.lower()).items():
            digest = hashlib.blake2b(gram.encode(), digest_size=8).digest()
            place = int.from_bytes(digest[:6], "little") % self.model.dimension
            sign = 1.0 if digest[7] & 1 else -1.0
            vector[place] += sign * len(gram) * (1 + np.log(count))
        if not vector.any():  # the signs of a very short text may cancel out
            vector[0] = 1.0
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def following(first: Embedder, *others: Embedder) -> FollowingEmbedder:
    """An embedder that can follow the database to the ``others`` only."""

    def build(space: EmbeddingSpace) -> Embedder:
        for other in others:
            if other.model == space.model:
                return other
        raise Misconfigured(f"this test has no embedder for {space.title}")

    return FollowingEmbedder(first, build)


def _grams(text: str) -> Counter[str]:
    return Counter(text[start : start + size] for size in (1, 2, 3) for start in range(len(text) - size + 1))
