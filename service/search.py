"""SEARCH FLOW: embed → retrieve and fuse (in SQL) → expand → rerank → respond."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config import SearchSettings
from service.db.bm25 import Bm25Health
from service.embed import Embedder
from service.errors import EmbeddingFailed, InvalidInput, RerankerUnavailable, Unavailable
from service.expand import expand
from service.rerank import Reranker
from service.retrieve import Scope, resolve_scope, retrieve
from service.steps import Steps
from service.types import Candidate, Notice, Passage, SearchRequest, SearchResult, Vector

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search works with."""

    engine: AsyncEngine
    embedder: Embedder
    reranker: Reranker
    settings: SearchSettings
    bm25: Bm25Health


async def search(parts: SearchParts, request: SearchRequest) -> SearchResult:
    """Return the best passages for a query; the same request on the same data gives the same order.

    A leg or the reranker that is out of order is named in ``warnings`` and the rest answers.

    Raises:
        InvalidInput: the query is blank or too long, or both weights are 0.
        InvalidFilter, CollectionNotFound: the restriction is not valid.
        EmbedderUnavailable: the query cannot be embedded and no other leg was asked for.
    """
    _check(request, parts.settings)
    steps, warnings = Steps(), list[Notice]()
    with steps.step("embed"):
        embedding = await _embed(parts, request, warnings)
    async with parts.engine.connect() as connection:
        with steps.step("retrieve"):
            scope = await resolve_scope(connection, request)
            candidates = await _retrieve(connection, request, embedding, scope, warnings)
            if request.fts_weight > 0:
                warnings += parts.bm25.notices()
        with steps.step("expand"):
            passages = await expand(connection, candidates)
    with steps.step("rerank"):
        passages = await _rerank(parts, request, passages, warnings)
    result = SearchResult(tuple(passages), steps.timings_ms(), tuple(warnings))
    log.info("searched", passages=len(passages), warnings=[w.code for w in warnings], **result.timings_ms)
    return result


def _check(request: SearchRequest, settings: SearchSettings) -> None:
    if not request.query.strip():
        raise InvalidInput("query must hold at least one character that is not blank")
    if len(request.query) > settings.max_query_characters:
        raise InvalidInput(
            f"query has {len(request.query)} characters, the limit is {settings.max_query_characters}",
            limit=settings.max_query_characters,
        )
    if request.vector_weight == 0 and request.fts_weight == 0:
        raise InvalidInput("vector_weight and fts_weight must not both be 0: no leg would run")


async def _embed(parts: SearchParts, request: SearchRequest, warnings: list[Notice]) -> Vector | None:
    """Embed the query; when the model is out of order the fts leg answers alone, if it was asked for."""
    if request.vector_weight == 0:
        return None
    try:
        return await parts.embedder.embed_query(request.query)
    except (Unavailable, EmbeddingFailed) as error:
        if request.fts_weight == 0:
            raise
        log.warning("vector_leg_unavailable", code=error.code, message=error.message)
        warnings.append(Notice("vector_unavailable", "the query could not be embedded; only the BM25 leg answered"))
        return None


async def _retrieve(
    connection: AsyncConnection,
    request: SearchRequest,
    embedding: Vector | None,
    scope: Scope,
    warnings: list[Notice],
) -> list[Candidate]:
    """Run both legs; when the BM25 index is out of order the vector leg answers alone."""
    try:
        return await retrieve(connection, request, embedding, scope, fts_weight=request.fts_weight)
    except DBAPIError as error:
        if error.connection_invalidated or embedding is None or request.fts_weight == 0:
            raise
        log.warning("fts_leg_unavailable", message=str(error.orig))
        await connection.rollback()
        candidates = await retrieve(connection, request, embedding, scope, fts_weight=0)
        warnings.append(Notice("fts_unavailable", "the BM25 leg failed; only the vector leg answered"))
        return candidates


async def _rerank(
    parts: SearchParts, request: SearchRequest, passages: list[Passage], warnings: list[Notice]
) -> list[Passage]:
    """Rerank, or keep the fused order when the reranker is out of order."""
    if not request.rerank or not passages:
        return passages[: request.top_n]
    try:
        return await parts.reranker.rerank(request.query, passages, request.top_n)
    except RerankerUnavailable as error:
        log.warning("reranker_unavailable", message=error.message)
        warnings.append(Notice("rerank_unavailable", "the reranker did not answer; passages are in fused order"))
        return passages[: request.top_n]
