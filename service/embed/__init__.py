"""Texts to vectors: one embedder for the settings, whoever the provider is."""

from __future__ import annotations

from service.config import EmbedSettings
from service.db.spaces import EmbeddingSpace
from service.embed.cached import CachedEmbedder, EmbeddedPassages
from service.embed.following import FollowingEmbedder, settings_of
from service.embed.in_thread import in_thread
from service.embed.local.embedder import create_local
from service.embed.protocol import Embedder, EmbeddingCache, Progress
from service.embed.providers.known import SHAPES
from service.embed.remote import RemoteEmbedder
from service.errors import EmbedderUnavailable, EmbeddingDimension, EmbeddingRefused, Misconfigured
from service.http_client import HttpPolicy, ProviderClient, ProviderErrors
from service.metrics import Metrics
from service.types import EmbeddingModel

__all__ = [
    "CachedEmbedder",
    "EmbeddedPassages",
    "Embedder",
    "EmbeddingCache",
    "FollowingEmbedder",
    "Progress",
    "create_embedder",
    "embedder_of",
    "find_dimension",
    "in_thread",
]


def create_embedder(settings: EmbedSettings, metrics: Metrics | None = None) -> Embedder:
    """The embedder these settings name. Nothing is loaded or called before the first text.

    Raises:
        Misconfigured: the local model is not installed, a key is missing, or the settings contradict one another.
    """
    if settings.provider == "local":
        return create_local(settings)
    shape = SHAPES[settings.provider]
    if shape.needs_key and settings.base_url is None and settings.api_key is None:
        raise Misconfigured(f"{shape.name} needs a key: set FUZI_EMBED__API_KEY (or FUZI_EMBED__BASE_URL)")
    client = ProviderClient(
        shape.name,
        settings.base_url or shape.base_url,
        ProviderErrors(EmbedderUnavailable, EmbeddingRefused),
        api_key=settings.api_key,
        policy=HttpPolicy.of(settings),
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


def embedder_of(settings: EmbedSettings, space: EmbeddingSpace, metrics: Metrics | None = None) -> Embedder:
    """The embedder of another space than the settings name, reached as `settings_of` says.

    Raises:
        Misconfigured, EmbedderUnavailable: see `create_embedder` and `settings_of`.
    """
    return create_embedder(settings_of(space, settings), metrics)


async def find_dimension(settings: EmbedSettings) -> int:
    """Ask the model of these settings how many numbers its vectors have; their own ``dimension`` is not looked at.

    Raises:
        EmbeddingFailed, EmbedderUnavailable: it does not answer with a vector.
    """
    embedder = create_embedder(settings.model_copy(update={"dimension": 1, "send_dimension": False}))
    try:
        [vector] = await embedder.embed_passages(["夫子"])
    except EmbeddingDimension as surprise:
        return int(surprise.details["received"])
    finally:
        await embedder.close()
    return len(vector)
