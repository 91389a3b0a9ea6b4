"""Ollama's own ``/api/embed``; its answer has no index, the order is that of the texts."""

from __future__ import annotations

from typing import Any

from service.embed.checks import require_count
from service.embed.providers.shape import EmbeddingRequest, ProviderShape
from service.errors import EmbeddingFailed
from service.http_client import BodyError, body_error
from service.types import JsonObject


def _write(request: EmbeddingRequest) -> JsonObject:
    body: dict[str, Any] = {"model": request.model, "input": list(request.texts)}
    if request.dimension is not None:
        body["dimensions"] = request.dimension
    return body


def _read(answer: Any, count: int) -> list[Any]:
    vectors = answer.get("embeddings") if isinstance(answer, dict) else None
    if not isinstance(vectors, list):
        raise EmbeddingFailed("the embedding answer has no `embeddings`")
    require_count(len(vectors), count)
    return vectors


def _recognise(body: Any) -> BodyError | None:
    found = body_error(body)
    if found is not None and "unsupported value: NaN" in found.message:
        # Ollama fails to write a vector with NaN as JSON and answers 500. The same text fails again each time.
        return BodyError(f"the model gave a non-finite vector ({found.message})", 422)
    return found


OLLAMA = ProviderShape(
    name="ollama",
    base_url="http://127.0.0.1:11434",
    path="api/embed",
    largest_batch=2048,
    needs_key=False,
    write=_write,
    read=_read,
    recognise=_recognise,
)
