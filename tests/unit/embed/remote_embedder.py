"""An embedder of any provider that talks to a scripted server."""

from __future__ import annotations

from typing import Any

from service.config import EmbedSettings
from service.embed import Embedder, create_embedder
from tests.fakes.embedding_server import EmbeddingServer

KEY = "sk-loopback-8841"


def embedder(server: EmbeddingServer, provider: str = "openai", **settings: Any) -> Embedder:
    values = {
        "provider": provider,
        "model": "m",
        "dimension": server.dimension,
        "base_url": server.root if provider == "ollama" else server.url,
        "api_key": KEY,
        **settings,
    }
    return create_embedder(EmbedSettings.model_validate(values))
