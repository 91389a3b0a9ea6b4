"""Hugging Face's Text Embeddings Inference with a cross-encoder: ``/rerank``, one model a server, a bare list back."""

from __future__ import annotations

from typing import Any

from service.rerank.providers.shape import ProviderShape, RerankRequest
from service.types import JsonObject


def _write(request: RerankRequest) -> JsonObject:
    # Without `truncate` a pair beyond the model's window is refused. All scores come back; there is no `top_n`.
    return {"query": request.query, "texts": list(request.documents), "truncate": True}


def _read(answer: Any) -> Any:
    return answer


TEI = ProviderShape(
    name="tei",
    base_url=None,
    path="rerank",
    # The server's own default; started with another `--max-client-batch-size` it takes more.
    largest_batch=32,
    longest_text=16_000,
    largest_call=1_000_000,
    write=_write,
    read=_read,
    score="score",
)
