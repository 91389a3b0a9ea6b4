"""Embeddings from a provider over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from typing import Any

import numpy as np

from service.embed.checks import checked
from service.embed.protocol import Progress
from service.embed.providers.shape import EmbeddingRequest, ProviderShape, Purpose
from service.embed.recent_queries import RecentQueries
from service.embed.texts import placed, sendable, sendable_all
from service.errors import EmbeddingFailed, EmbeddingRefused
from service.http_client import ProviderClient
from service.in_flight import in_flight
from service.types import EmbeddingModel, Vector, VectorBatch

# Statuses by which providers refuse what a request holds: too many texts, a text too long or not to their liking.
_CONTENT_REFUSED = frozenset({400, 413, 422})


class RemoteEmbedder:
    """An ``Embedder`` over one provider.

    Args:
        batch_size: texts a call, lowered to what the provider takes.
        ask_dimension: send the model's dimension to the provider.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        shape: ProviderShape,
        client: ProviderClient,
        *,
        batch_size: int,
        ask_dimension: bool = False,
    ) -> None:
        self.model = model
        self._shape = shape
        self._client = client
        self._batch_size = min(batch_size, shape.largest_batch)
        self._ask_dimension = ask_dimension
        self._recent = RecentQueries()

    async def embed_query(self, text: str) -> Vector:
        """See ``Embedder``. A text asked before comes from memory."""
        clean = sendable(text)
        known = self._recent.get(clean)
        if known is not None:
            return known
        [numbers] = await self._call([clean], "query")
        return self._recent.put(clean, checked(numbers, self.model.dimension))

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """See ``Embedder``."""
        clean = dict.fromkeys(sendable_all(texts))

        async def embed(batch: Sequence[str]) -> None:
            for text, numbers in zip(batch, await self._call(batch, "query"), strict=True):
                self._recent.put(text, checked(numbers, self.model.dimension))

        unknown = [text for text in clean if text not in self._recent]
        await in_flight(batched(unknown, self._batch_size), self._client.policy.concurrency, embed)

    def knows_query(self, text: str) -> bool:
        """See ``Embedder``."""
        return sendable(text) in self._recent

    async def embed_passages(self, texts: Sequence[str], on_progress: Progress | None = None) -> VectorBatch:
        """See ``Embedder``. Messages of failures name the position of the text, from 1."""
        clean = sendable_all(texts)
        vectors = np.empty((len(clean), self.model.dimension), dtype=np.float32)
        done = 0

        async def embed(batch: Sequence[int]) -> None:
            nonlocal done
            await self._fill(vectors, clean, batch)
            done += len(batch)
            if on_progress is not None:
                on_progress(done)

        await in_flight(batched(range(len(clean)), self._batch_size), self._client.policy.concurrency, embed)
        return vectors

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _fill(self, vectors: VectorBatch, texts: Sequence[str], batch: Sequence[int]) -> None:
        try:
            rows = await self._call([texts[position] for position in batch], "passage")
        except EmbeddingRefused as refusal:
            if refusal.details.get("status") not in _CONTENT_REFUSED:
                raise
            if len(batch) == 1:
                raise placed(refusal, batch[0], len(texts)) from refusal
            middle = len(batch) // 2
            await self._fill(vectors, texts, batch[:middle])
            await self._fill(vectors, texts, batch[middle:])
            return
        for position, numbers in zip(batch, rows, strict=True):
            try:
                vectors[position] = checked(numbers, self.model.dimension)
            except EmbeddingFailed as failure:
                raise placed(failure, position, len(texts)) from failure

    async def _call(self, texts: Sequence[str], purpose: Purpose) -> list[Any]:
        dimension = self.model.dimension if self._ask_dimension else None
        body = self._shape.write(EmbeddingRequest(self.model.name, texts, purpose, dimension))
        answer = await self._client.post_json(self._shape.path, body, urgent=purpose == "query")
        return self._shape.read(answer, len(texts))
