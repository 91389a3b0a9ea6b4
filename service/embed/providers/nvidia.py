"""NVIDIA NIM: asymmetric models, told by ``input_type`` whether a text is a query or a passage."""

from __future__ import annotations

from service.embed.providers import openai
from service.embed.providers.shape import EmbeddingRequest, ProviderShape
from service.types import JsonObject


def _write(request: EmbeddingRequest) -> JsonObject:
    # `truncate`: the default NONE answers 400 to a text beyond the model's window.
    return {**openai.write(request), "input_type": request.purpose, "truncate": "END"}


NVIDIA = ProviderShape(
    name="nvidia",
    base_url="https://integrate.api.nvidia.com/v1",
    path="embeddings",
    largest_batch=50,
    needs_key=True,
    write=_write,
    read=openai.read,
)
