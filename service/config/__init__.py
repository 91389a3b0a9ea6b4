"""Settings: read once from ``FUZI_…`` variables, then passed down as values.

Nested names join with two underscores: ``FUZI_SPLIT__CHILD_SIZE=200``.
"""

from service.config.ingest import (
    LOCAL_DIMENSION,
    LOCAL_MODEL,
    LONGEST_VECTOR,
    EmbedSettings,
    ExtractSettings,
    SplitSettings,
)
from service.config.process import JobSettings, LimitSettings, LogSettings, ServerSettings, TracingSettings
from service.config.search import RERANK_PROVIDERS_OVER_HTTP, ChatSettings, RerankSettings, SearchSettings
from service.config.settings import Settings, default_home
from service.config.storage import DatabaseSettings, OriginalsSettings

__all__ = [
    "LOCAL_DIMENSION",
    "LOCAL_MODEL",
    "LONGEST_VECTOR",
    "RERANK_PROVIDERS_OVER_HTTP",
    "ChatSettings",
    "DatabaseSettings",
    "EmbedSettings",
    "ExtractSettings",
    "JobSettings",
    "LimitSettings",
    "LogSettings",
    "OriginalsSettings",
    "RerankSettings",
    "SearchSettings",
    "ServerSettings",
    "Settings",
    "SplitSettings",
    "TracingSettings",
    "default_home",
]
