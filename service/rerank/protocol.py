"""What every reranker can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.types import Notice, Passage


class Reranker(Protocol):
    """Reorders passages by how well they answer the query."""

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_n: int, *, explain: bool = False
    ) -> list[Passage]:
        """Return the best ``top_n`` passages, best first, with their ``rerank_score``.

        Passages that got no score follow in the order in which they were given, with a ``rerank_score`` of None. With
        ``explain`` a reranker that knows why adds ``rerank_reasons``.

        Raises:
            RerankerUnavailable: no usable answer in time; the caller keeps the fused order.
        """
        ...

    def notices(self) -> list[Notice]:
        """What searches lack at the moment; empty when all is well, as far as is known."""
        return []

    async def close(self) -> None:
        """Let go of connections."""
        ...


class KeepOrder(Reranker):
    """The provider ``none``: fused order stays."""

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_n: int, *, explain: bool = False
    ) -> list[Passage]:
        """Return the first ``top_n`` passages as they are."""
        return list(passages[:top_n])

    async def close(self) -> None:
        """Nothing to let go of."""
