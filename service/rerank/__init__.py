"""Query and passages to reordered passages. The seam for rerankers; the provider ``none`` keeps the fused order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.types import Passage


class Reranker(Protocol):
    """Reorders passages by how well they answer the query."""

    async def rerank(self, query: str, passages: Sequence[Passage], top_n: int) -> list[Passage]:
        """Return the best ``top_n`` passages, best first.

        Raises:
            RerankerUnavailable: the provider does not answer; the caller keeps the fused order.
        """
        ...


class KeepOrder:
    """The provider ``none``: fused order stays."""

    async def rerank(self, query: str, passages: Sequence[Passage], top_n: int) -> list[Passage]:
        """Return the first ``top_n`` passages as they are."""
        return list(passages[:top_n])
