"""Settings of a search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from service.config.group import Group


class SearchSettings(Group):
    """Defaults and bounds of a search."""

    top_n: int = Field(5, ge=1, le=100, description="passages returned")
    max_top_n: int = Field(100, ge=1, le=1000, description="largest `top_n` a request may ask for")
    candidates: int = Field(50, ge=1, le=1000, description="child chunks each leg returns")
    max_candidates: int = Field(1000, ge=1, le=1000, description="largest `candidates` a request may ask for")
    vector_weight: float = Field(70, ge=0, le=1000, description="weight of the vector leg")
    fts_weight: float = Field(30, ge=0, le=1000, description="weight of the BM25 leg")
    rrf_k: int = Field(60, ge=1, le=10_000, description="k of reciprocal rank fusion")
    max_query_characters: int = Field(5000, ge=1, le=100_000, description="longest query")
    log_share: float = Field(1, ge=0, le=1, description="part of the searches noted in `rag.search_log`, 0 is none")
    ef_search: int = Field(100, ge=1, le=1000, description="HNSW search breadth, raised to `candidates` when smaller")


class RerankSettings(Group):
    """Which reranker reorders the passages."""

    provider: Literal["none"] = Field("none", description="adapter")
