"""Jina's ``/v1/rerank``, which vLLM, Xinference, LocalAI, SiliconFlow and others speak as well."""

from __future__ import annotations

from service.rerank.providers import cohere
from service.rerank.providers.shape import ProviderShape, RerankRequest
from service.types import JsonObject


def _write(request: RerankRequest) -> JsonObject:
    # Jina sends every document back unless told not to.
    return {**cohere.write(request), "return_documents": False}


JINA = ProviderShape(
    name="jina",
    base_url="https://api.jina.ai/v1",
    path="rerank",
    largest_batch=100,
    longest_text=16_000,
    largest_call=1_000_000,
    write=_write,
    read=cohere.read,
    score="relevance_score",
)
