"""Alibaba DashScope's native text rerank.

Its models that speak another shape (``/compatible-api/v1/reranks``) are reached by the provider ``jina``.
"""

from __future__ import annotations

from typing import Any

from service.rerank.providers.shape import ProviderShape, RerankRequest, within
from service.types import JsonObject


def _write(request: RerankRequest) -> JsonObject:
    return {
        "model": request.model,
        "input": {"query": request.query, "documents": list(request.documents)},
        "parameters": {"top_n": request.top_n, "return_documents": False},
    }


def _read(answer: Any) -> Any:
    return within(answer, "output", "results")


DASHSCOPE = ProviderShape(
    name="dashscope",
    base_url="https://dashscope.aliyuncs.com/api/v1",
    path="services/rerank/text-rerank/text-rerank",
    largest_batch=500,
    # 4,000 tokens a text and 30,000 a call, where the query counts once a document; a Han character is a token or less.
    longest_text=4000,
    largest_call=28_000,
    write=_write,
    read=_read,
    score="relevance_score",
)
