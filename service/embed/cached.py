"""What was embedded once is not embedded again: not on re-upload, not on a re-split, not on a retry."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import batched

import numpy as np

from service.embed.protocol import Embedder, EmbeddingCache, Progress
from service.embed.texts import placed
from service.errors import FuziError
from service.types import EmbeddingModel, Vector, VectorBatch

# New texts between two writes to the cache: what a crash can cost at most, per document.
_TEXTS_PER_WRITE = 256


@dataclass(frozen=True, slots=True)
class EmbeddedPassages:
    """Vectors, float32 ``[text_count, dimension]``, and how they came about.

    ``embedded_count + reused_count`` is the number of texts. A text that occurs twice is embedded once and counts as
    reused from then on.
    """

    vectors: VectorBatch
    embedded_count: int
    reused_count: int


class CachedEmbedder:
    """An ``Embedder`` that asks ``cache`` before ``inner``. Queries pass through."""

    def __init__(self, inner: Embedder, cache: EmbeddingCache) -> None:
        self._inner = inner
        self._cache = cache

    @property
    def model(self) -> EmbeddingModel:
        """The inner model."""
        return self._inner.model

    async def embed_query(self, text: str) -> Vector:
        """See ``Embedder``."""
        return await self._inner.embed_query(text)

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """See ``Embedder``."""
        await self._inner.prepare_queries(texts)

    def knows_query(self, text: str) -> bool:
        """See ``Embedder``."""
        return self._inner.knows_query(text)

    async def embed_passages(self, texts: Sequence[str], on_progress: Progress | None = None) -> VectorBatch:
        """See ``Embedder``."""
        return (await self.embed_and_count(texts, on_progress)).vectors

    async def embed_and_count(self, texts: Sequence[str], on_progress: Progress | None = None) -> EmbeddedPassages:
        """As ``embed_passages``, with the counts of embedded and reused texts.

        Finished vectors are kept even when a later text fails.
        """
        key = model_key(self.model)
        hashes = await asyncio.to_thread(lambda: [text_hash(text) for text in texts])
        known = {
            digest: vector
            for digest, vector in (await self._cache.get_many(key, list(dict.fromkeys(hashes)))).items()
            if vector.shape == (self.model.dimension,)
        }
        first_places = {digest: place for place, digest in reversed(list(enumerate(hashes))) if digest not in known}
        missing = sorted(first_places.values())
        done = reused_count = len(texts) - len(missing)
        if on_progress is not None and reused_count:
            on_progress(reused_count)
        for places in batched(missing, _TEXTS_PER_WRITE):
            vectors = await self._embed_some(texts, places, on_progress and partial(_report, on_progress, done))
            new = {hashes[place]: vector for place, vector in zip(places, vectors, strict=True)}
            await self._cache.put_many(key, new)
            known.update(new)
            done += len(places)
        ordered = np.empty((len(texts), self.model.dimension), dtype=np.float32)
        for place, digest in enumerate(hashes):
            ordered[place] = known[digest]
        return EmbeddedPassages(ordered, len(missing), reused_count)

    async def close(self) -> None:
        """Closes the inner embedder."""
        await self._inner.close()

    async def _embed_some(
        self, texts: Sequence[str], places: Sequence[int], on_progress: Progress | None
    ) -> VectorBatch:
        try:
            return await self._inner.embed_passages([texts[place] for place in places], on_progress)
        except FuziError as failure:
            position = failure.details.get("position")
            if position is None:
                raise
            raise placed(failure, places[position], len(texts)) from failure


def model_key(model: EmbeddingModel) -> str:
    """Key of a vector space in the cache."""
    return f"{model.provider}/{model.name}/{model.dimension}"


def text_hash(text: str) -> bytes:
    """SHA-256 of the text as UTF-8 (unpaired surrogates as they are)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _report(on_progress: Progress, before: int, now: int) -> None:
    on_progress(before + now)
