"""Query and passages to reordered passages: one reranker for the settings, whoever the provider is."""

from __future__ import annotations

from service.config import RerankSettings
from service.errors import Misconfigured
from service.metrics import Metrics
from service.rerank.pool import PooledReranker
from service.rerank.probe import probe
from service.rerank.protocol import KeepOrder, Reranker
from service.rerank.remote import create_remote

__all__ = ["KeepOrder", "PooledReranker", "Reranker", "create_reranker", "probe"]

_POOL_OVER_HTTP = 50


def create_reranker(settings: RerankSettings, metrics: Metrics | None = None) -> Reranker:
    """The reranker these settings name. Nothing is loaded or called before the first search.

    Raises:
        Misconfigured: the provider is not installed, or its URL is none.
    """
    match settings.provider:
        case "auto" | "none":
            return KeepOrder()
        case "local":
            raise Misconfigured("the local reranker is not installed: set FUZI_RERANK__PROVIDER to another one")
        case _:
            return PooledReranker(create_remote(settings, metrics), settings.pool or _POOL_OVER_HTTP)
