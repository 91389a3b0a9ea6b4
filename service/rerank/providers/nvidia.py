"""NVIDIA NIM: ``/v1/ranking``; its scores are logits, of any size and sign."""

from __future__ import annotations

from typing import Any

from service.rerank.providers.shape import ProviderShape, RerankRequest, within
from service.types import JsonObject


def _write(request: RerankRequest) -> JsonObject:
    return {
        "model": request.model,
        "query": {"text": request.query},
        "passages": [{"text": text} for text in request.documents],
        # The default NONE answers 400 to a pair beyond the model's window.
        "truncate": "END",
    }


def _read(answer: Any) -> Any:
    return within(answer, "rankings")


NVIDIA = ProviderShape(
    name="nvidia",
    base_url=None,
    path="ranking",
    largest_batch=512,
    longest_text=16_000,
    largest_call=4_000_000,
    write=_write,
    read=_read,
    score="logit",
)
