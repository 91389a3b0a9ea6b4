"""Settings of a search, and of the answers written from one."""

from __future__ import annotations

from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from service.config.group import Group

type FtsTerms = Literal["both", "words", "pairs"]

RERANK_PROVIDERS_OVER_HTTP = frozenset({"cohere", "jina", "tei", "nvidia", "dashscope"})

_WITHOUT_PUBLIC_URL = {"tei": "http://127.0.0.1:8080", "nvidia": "http://127.0.0.1:8000/v1"}
"""Providers that every operator finds somewhere else, with an example of where."""


class SearchSettings(Group):
    """Defaults and bounds of a search."""

    top_n: int = Field(5, ge=1, le=100, description="passages returned")
    max_top_n: int = Field(100, ge=1, le=1000, description="largest `top_n` a request may ask for")
    candidates: int = Field(50, ge=1, le=1000, description="child chunks each leg returns")
    max_candidates: int = Field(1000, ge=1, le=1000, description="largest `candidates` a request may ask for")
    vector_weight: float = Field(70, ge=0, le=1000, description="weight of the vector leg")
    fts_weight: float = Field(30, ge=0, le=1000, description="weight of the BM25 leg")
    rrf_k: int = Field(60, ge=1, le=10_000, description="k of reciprocal rank fusion")
    fts_terms: FtsTerms = Field(
        "both", description="what the BM25 leg looks for: `words`, `pairs` of Han characters, or `both`"
    )
    max_query_characters: int = Field(5000, ge=1, le=100_000, description="longest query")
    max_batch_queries: int = Field(100, ge=1, le=1000, description="most queries of one `POST /v1/search/batch`")
    max_batch_candidates: int = Field(
        10_000, ge=1, le=1_000_000, description="largest sum of the `candidates` of all queries of one batch"
    )
    batch_concurrency: int = Field(4, ge=1, le=64, description="queries of one batch in work at once")
    log_share: float = Field(1, ge=0, le=1, description="part of the searches noted in `rag.search_log`, 0 is none")
    ef_search: int = Field(400, ge=1, le=1000, description="HNSW search breadth, raised to `candidates` when smaller")


class RerankSettings(Group):
    """Which reranker reorders the passages."""

    provider: Literal["auto", "none", "local", "cohere", "jina", "tei", "nvidia", "dashscope"] = Field(
        "auto", description="auto is local"
    )
    model: str | None = Field(None, min_length=1, description="model name at the provider")
    base_url: str | None = Field(None, description="URL of the provider, with or without its endpoint")
    api_key: SecretStr | None = Field(None, description="key of the provider")
    timeout_seconds: float = Field(3, gt=0, le=60, description="limit of the whole step; then the fused order stays")
    batch_size: int | None = Field(None, ge=1, le=1000, description="passages a call; unset is the provider's limit")
    concurrency: int = Field(4, ge=1, le=64, description="calls in flight")
    pool: int | None = Field(None, ge=1, le=1000, description="passages reranked; unset is 100 for local, else 50")
    heading_context: bool = Field(True, description="send title and heading path in front of the content")

    @model_validator(mode="after")
    def _fits_its_provider(self) -> Self:
        if self.provider in {"auto", "local"} and (self.base_url is not None or self.api_key is not None):
            raise ValueError(f"provider {self.provider} has no base_url and no api_key: name the provider they are of")
        if self.provider in RERANK_PROVIDERS_OVER_HTTP:
            self._can_be_reached()
        return self

    def _can_be_reached(self) -> None:
        example = _WITHOUT_PUBLIC_URL.get(self.provider)
        if self.base_url is None and example is not None:
            raise ValueError(f"provider {self.provider} needs base_url, such as {example}")
        if self.base_url is None and self.api_key is None:
            raise ValueError(f"provider {self.provider} needs api_key, or the base_url of another server")
        if self.model is None and self.provider != "tei":
            raise ValueError(f"provider {self.provider} needs model, the name of a reranking model there")
        _check_url(self.base_url or "https://public")


class ChatSettings(Group):
    """Which model writes answers, and how much it reads and writes; without a `base_url` answers are sentences."""

    base_url: str | None = Field(None, description="URL of an OpenAI-compatible chat server, up to its version path")
    model: str | None = Field(None, min_length=1, description="name of the chat model there")
    api_key: SecretStr | None = Field(None, description="key of the chat server")
    extra_body: dict[str, Any] = Field(
        default={}, description="JSON object of further fields for the chat server; `null` takes one of ours away"
    )
    max_tokens: int = Field(1024, ge=16, le=100_000, description="longest answer, in tokens")
    max_characters: int = Field(50_000, ge=1000, le=1_000_000, description="an answer that grows longer is given up")
    context_tokens: int = Field(3000, ge=200, le=1_000_000, description="estimated tokens of passages the model reads")
    history_messages: int = Field(10, ge=0, le=100, description="earlier messages the model reads, the newest")
    history_tokens: int = Field(1000, ge=0, le=100_000, description="estimated tokens of those together")
    timeout_seconds: float = Field(60, gt=0, le=600, description="silence of the model after which it is given up")
    total_timeout_seconds: float = Field(300, gt=0, le=3600, description="limit of one answer, its waiting included")
    attempts: int = Field(3, ge=1, le=20, description="tries of a call that fails before the first word")
    concurrency: int = Field(8, ge=1, le=1000, description="answers written at once in one process")
    heartbeat_seconds: float = Field(10, gt=0, le=60, description="silence after which the stream shows that it lives")
    resume_seconds: float = Field(
        15, ge=0, le=600, description="an answer whose reader is gone, or that has ended, is held for so long"
    )

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.base_url is None:
            if self.model is not None or self.api_key is not None:
                raise ValueError(
                    "model and api_key are of a chat server: set base_url, such as http://127.0.0.1:11434/v1"
                )
            return self
        _check_url(self.base_url)
        if self.model is None:
            raise ValueError("base_url needs model, the name of a chat model there")
        return self


def _check_url(base_url: str) -> None:
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
        raise ValueError("base_url must start with http:// or https:// and name a host")
