"""Query and passages to reordered passages: one reranker for the settings, whoever the provider is."""

from __future__ import annotations

from service.config import RerankSettings
from service.metrics import Metrics
from service.rerank.local import LocalReranker
from service.rerank.pool import PooledReranker
from service.rerank.probe import probe
from service.rerank.protocol import KeepOrder, Reranker
from service.rerank.remote import create_remote

__all__ = ["KeepOrder", "PooledReranker", "Reranker", "create_reranker", "probe"]

_POOL_OVER_HTTP = 50
_POOL_OF_LOCAL = 100


def create_reranker(settings: RerankSettings, metrics: Metrics | None = None) -> Reranker:
    """The reranker these settings name. Nothing is loaded or called before the first search.

    Raises:
        Misconfigured: the provider's URL is none.
    """
    match settings.provider:
        case "none":
            return KeepOrder()
        case "auto" | "local":
            return PooledReranker(LocalReranker(), settings.pool or _POOL_OF_LOCAL)
        case _:
            return PooledReranker(create_remote(settings, metrics), settings.pool or _POOL_OVER_HTTP)
