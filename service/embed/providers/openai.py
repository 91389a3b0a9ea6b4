"""OpenAI, and every server that speaks its ``/embeddings`` (vLLM, TEI, llama.cpp, LM Studio, Xinference, …)."""

from __future__ import annotations

from typing import Any

from service.embed.checks import by_index
from service.embed.providers.shape import EmbeddingRequest, ProviderShape
from service.errors import EmbeddingFailed
from service.types import JsonObject


def write(request: EmbeddingRequest) -> JsonObject:
    """``dimensions`` only when asked for: most compatible servers refuse it for models of one dimension."""
    body: dict[str, Any] = {"model": request.model, "input": list(request.texts)}
    if request.dimension is not None:
        body["dimensions"] = request.dimension
    return body


def read(answer: Any, count: int) -> list[Any]:
    """Vectors of ``data``, by ``index``."""
    if not isinstance(answer, dict) or "data" not in answer:
        raise EmbeddingFailed("the embedding answer has no `data`")
    return by_index(answer["data"], count)


OPENAI = ProviderShape(
    name="openai",
    base_url="https://api.openai.com/v1",
    path="embeddings",
    largest_batch=2048,
    needs_key=True,
    write=write,
    read=read,
)
