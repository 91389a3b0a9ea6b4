"""A `HashEmbedder` that remembers which passages it was asked to embed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.types import VectorBatch
from tests.fakes.hash_embedder import HashEmbedder


class RecordingEmbedder(HashEmbedder):
    """``asked`` has every passage that was embedded, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> VectorBatch:
        self.asked += texts
        return await super().embed_passages(texts, on_progress)
