"""Passages, and a reranker of any provider that talks to a scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from service.config import RerankSettings
from service.rerank import Reranker, create_reranker
from service.types import Passage
from tests.fakes.rerank_server import RerankServer

KEY = "sk-loopback-5512"


def passage(content: str, rank: int = 1, **values: Any) -> Passage:
    """A passage of this content at this place of the fused order."""
    given: dict[str, Any] = {
        "chunk_id": UUID(int=rank),
        "parent_id": rank,
        "document_id": UUID(int=1000 + rank),
        "collection": "default",
        "source": f"{rank}.md",
        "title": None,
        "media_type": "text/markdown",
        "metadata": {},
        "content": content,
        "start": 0,
        "end": len(content),
        "heading_path": (),
        "first_page": None,
        "last_page": None,
        "rrf_score": 1 / (60 + rank),
        "hits": (),
        "rank_before_rerank": rank,
        **values,
    }
    return Passage(**given)


def fused(contents: Sequence[str]) -> list[Passage]:
    """Passages in fused order."""
    return [passage(content, rank) for rank, content in enumerate(contents, start=1)]


def told(passages: Sequence[Passage]) -> list[tuple[str, float | None]]:
    """What a ranking says: content and score."""
    return [(passage.content, passage.rerank_score) for passage in passages]


def settings(server: RerankServer, provider: str = "jina", **values: Any) -> RerankSettings:
    address = {"base_url": server.address(provider), "api_key": KEY, "model": "m"}
    return RerankSettings.model_validate({"provider": provider, **address, **values})


@asynccontextmanager
async def reranker(server: RerankServer, provider: str = "jina", **values: Any) -> AsyncIterator[Reranker]:
    opened = create_reranker(settings(server, provider, **values))
    try:
        yield opened
    finally:
        await opened.close()
