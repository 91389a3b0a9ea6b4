"""Only the best passages of the fused order are worth a reranker's time."""

from __future__ import annotations

from collections.abc import Sequence

from service.rerank.protocol import Reranker
from service.types import Notice, Passage


class PooledReranker(Reranker):
    """Gives ``inner`` the first ``size`` passages; the others keep their order behind them."""

    def __init__(self, inner: Reranker, size: int) -> None:
        self._inner = inner
        self._size = size

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_n: int, *, explain: bool = False
    ) -> list[Passage]:
        """See ``Reranker``. Without passages nobody is asked."""
        pool, behind = passages[: self._size], passages[self._size :]
        if not pool or top_n < 1:
            return []
        ranked = await self._inner.rerank(query, pool, min(top_n, len(pool)), explain=explain)
        return [*ranked, *behind][:top_n]

    def notices(self) -> list[Notice]:
        """See ``Reranker``."""
        return self._inner.notices()

    async def close(self) -> None:
        """See ``Reranker``."""
        await self._inner.close()
