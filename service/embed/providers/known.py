"""The providers that can be reached over HTTP, by name."""

from __future__ import annotations

from service.embed.providers.dashscope import DASHSCOPE
from service.embed.providers.nvidia import NVIDIA
from service.embed.providers.ollama import OLLAMA
from service.embed.providers.openai import OPENAI

SHAPES = {shape.name: shape for shape in (OPENAI, NVIDIA, OLLAMA, DASHSCOPE)}


def own_url(provider: str) -> str | None:
    """Where a provider is when nobody says otherwise; None for the local model, which is nowhere."""
    shape = SHAPES.get(provider)
    return None if shape is None else shape.base_url
