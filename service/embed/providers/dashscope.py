"""Alibaba DashScope in its OpenAI-compatible mode, which takes ten texts a call."""

from __future__ import annotations

from service.embed.providers import openai
from service.embed.providers.shape import ProviderShape

DASHSCOPE = ProviderShape(
    name="dashscope",
    base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
    path="embeddings",
    largest_batch=10,
    needs_key=True,
    write=openai.write,
    read=openai.read,
)
