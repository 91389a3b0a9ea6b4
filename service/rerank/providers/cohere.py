"""Cohere's ``/v2/rerank``."""

from __future__ import annotations

from typing import Any

from service.rerank.providers.shape import ProviderShape, RerankRequest, within
from service.types import JsonObject


def write(request: RerankRequest) -> JsonObject:
    """The four fields that all servers of this shape know."""
    return {
        "model": request.model,
        "query": request.query,
        "documents": list(request.documents),
        "top_n": request.top_n,
    }


def read(answer: Any) -> Any:
    """``results``: rows of ``index`` and ``relevance_score``."""
    return within(answer, "results")


COHERE = ProviderShape(
    name="cohere",
    base_url="https://api.cohere.com/v2",
    path="rerank",
    # As many as Cohere advises; it charges by calls, so fewer would cost more.
    largest_batch=1000,
    longest_text=16_000,
    largest_call=4_000_000,
    write=write,
    read=read,
    score="relevance_score",
)
