"""Texts to vectors: one embedder for the settings, whoever the provider is."""

from __future__ import annotations

from service.config import EmbedSettings
from service.embed.cached import CachedEmbedder, EmbeddedPassages
from service.embed.local.embedder import create_local
from service.embed.protocol import Embedder, EmbeddingCache, Progress
from service.embed.providers.dashscope import DASHSCOPE
from service.embed.providers.nvidia import NVIDIA
from service.embed.providers.ollama import OLLAMA
from service.embed.providers.openai import OPENAI
from service.embed.remote import RemoteEmbedder
from service.errors import EmbedderUnavailable, EmbeddingRefused, Misconfigured
from service.http_client import HttpPolicy, ProviderClient, ProviderErrors
from service.metrics import Metrics
from service.types import EmbeddingModel

__all__ = ["CachedEmbedder", "EmbeddedPassages", "Embedder", "EmbeddingCache", "Progress", "create_embedder"]

_SHAPES = {shape.name: shape for shape in (OPENAI, NVIDIA, OLLAMA, DASHSCOPE)}


def create_embedder(settings: EmbedSettings, metrics: Metrics | None = None) -> Embedder:
    """The embedder these settings name. Nothing is loaded or called before the first text.

    Raises:
        Misconfigured: the local model is not installed, a key is missing, or the settings contradict one another.
    """
    if settings.provider == "local":
        return create_local(settings)
    shape = _SHAPES[settings.provider]
    if shape.needs_key and settings.base_url is None and settings.api_key is None:
        raise Misconfigured(f"{shape.name} needs a key: set FUZI_EMBED__API_KEY (or FUZI_EMBED__BASE_URL)")
    client = ProviderClient(
        shape.name,
        settings.base_url or shape.base_url,
        ProviderErrors(EmbedderUnavailable, EmbeddingRefused),
        api_key=settings.api_key,
        policy=HttpPolicy(
            timeout_seconds=settings.timeout_seconds,
            total_timeout_seconds=settings.total_timeout_seconds,
            attempts=settings.attempts,
            concurrency=settings.concurrency,
        ),
        recognise=shape.recognise,
        metrics=metrics,
    )
    return RemoteEmbedder(
        EmbeddingModel(settings.provider, settings.model, settings.dimension),
        shape,
        client,
        batch_size=settings.batch_size,
        ask_dimension=settings.send_dimension,
    )
