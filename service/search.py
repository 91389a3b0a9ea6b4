"""SEARCH FLOW: embed → retrieve and fuse (in SQL) → expand → rerank → respond."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import psycopg
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config import SearchSettings
from service.db.bm25 import Bm25Health
from service.db.engine import driver_connection
from service.db.replica.reads import Reads
from service.db.spaces import reading
from service.embed import Embedder, FollowingEmbedder
from service.errors import (
    Conflict,
    EmbedderUnavailable,
    EmbeddingFailed,
    FuziError,
    InvalidInput,
    RerankerUnavailable,
    Unavailable,
)
from service.expand import expand, highlighted
from service.explain import Facts, explain, look
from service.metrics import Metrics
from service.rerank import Reranker
from service.retrieve import (
    Resolved,
    Retrieved,
    Scope,
    Surroundings,
    look_around,
    resolve_scope,
    resolve_settings,
    retrieve,
)
from service.steps import Steps
from service.store.search_log import SearchLog
from service.tracing import span
from service.types import Candidate, EmbeddingModel, Explanation, Notice, Passage, SearchRequest, SearchResult, Vector

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search works with."""

    engine: AsyncEngine
    embedder: FollowingEmbedder
    reranker: Reranker
    settings: SearchSettings
    bm25: Bm25Health
    search_log: SearchLog | None = None
    metrics: Metrics = field(default_factory=Metrics)
    reads: Reads | None = None
    embedded_ahead: bool = False
    """Whether the vectors of the queries were made, and counted, before."""
    new_id: Callable[[], UUID] = uuid4
    """Makes the id by which feedback and the search log know a search."""


async def search(parts: SearchParts, request: SearchRequest) -> SearchResult:
    """Return the best passages for a query; the same request on the same data gives the same order.

    A leg or the reranker that is out of order is named in ``warnings`` and the rest answers.

    Raises:
        InvalidInput: the query is blank or too long, or both weights are 0.
        InvalidFilter, CollectionNotFound: the restriction is not valid.
        EmbedderUnavailable: the query cannot be embedded and no other leg was asked for.
    """
    _check(request, parts.settings)
    with span("search"):
        if parts.reads is None:
            return await _search(parts, request)
        return await parts.reads.serve(
            lambda place: _search(replace(parts, engine=place.engine, bm25=place.bm25), request)
        )


async def _search(parts: SearchParts, request: SearchRequest) -> SearchResult:
    steps, warnings = Steps(), list[Notice]()
    async with _snapshot(parts, request, steps, warnings) as moment:
        connection = moment.connection
        with steps.step("retrieve"):
            scope = await resolve_scope(connection, request, moment.around)
            asked = resolve_settings(request, moment.around)
            request = asked.request
            retrieved = await _retrieve(moment, asked, scope, warnings)
            candidates = retrieved.candidates if request.rerank else retrieved.of_parents(request.top_n)
            if request.fts_weight > 0:
                warnings += parts.bm25.notices()
        with steps.step("expand"):
            # only a reranker looks at the other children of a passage
            passages = await expand(connection, candidates, moment.embedding if request.rerank else None)
        facts = await _look(moment, asked, scope, steps) if request.explain else None
    with steps.step("rerank"):
        passages = await _rerank(parts, request, passages, warnings)
    with steps.step("expand"):
        passages = highlighted(passages, request.query)
    result = SearchResult(
        tuple(passages),
        steps.timings_ms(),
        tuple(warnings),
        completeness=retrieved.completeness,
        corpus_revision=retrieved.corpus_revision,
        search_id=parts.new_id(),
    )
    if facts is not None:
        explanation = _explain(
            moment, asked, scope, facts, settings=parts.settings, candidates=candidates, result=result
        )
        result = replace(result, explanation=explanation)
    if parts.search_log is not None:
        parts.search_log.note(request, result)
    parts.metrics.searched(result.timings_ms, [warning.code for warning in result.warnings])
    log.info("searched", passages=len(passages), warnings=[w.code for w in warnings], **result.timings_ms)
    return result


@dataclass(frozen=True, slots=True)
class _Moment:
    """A connection that sees one moment, so that a document replaced meanwhile is found in one version.

    ``embedding`` is the query's vector, of ``model``, whose vectors are compared at that moment; None when the vector
    leg is not asked for or cannot be. ``from_memory`` says that the vector was at hand.
    """

    connection: AsyncConnection
    around: Surroundings
    model: EmbeddingModel
    embedding: Vector | None
    from_memory: bool


@asynccontextmanager
async def _snapshot(
    parts: SearchParts, request: SearchRequest, steps: Steps, warnings: list[Notice]
) -> AsyncIterator[_Moment]:
    """Embed the query, and open a snapshot whose vectors come from the same model.

    When the database changed to another model, the query is embedded once more by that one.
    """
    while True:
        embedder = parts.embedder.current
        from_memory = request.vector_weight > 0 and embedder.knows_query(request.query)
        with steps.step("embed"):
            embedded = await _embed(embedder, request)
        if not (parts.embedded_ahead or embedded is None or isinstance(embedded, FuziError)):
            parts.metrics.query_vector(remembered=from_memory)
        if embedded is not None and not from_memory:
            parts.embedder.asked(is_away=isinstance(embedded, Unavailable))
        async with reading(parts.engine) as connection:
            with steps.step("retrieve"):
                around = await look_around(connection, request)
            if embedded is not None and around.space.model != embedder.model:
                try:
                    parts.embedder.follow(around.space)
                    continue
                except EmbedderUnavailable as error:
                    embedded = error
            yield _Moment(connection, around, embedder.model, _vector(embedded, request, warnings), from_memory)
            return


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


async def _embed(embedder: Embedder, request: SearchRequest) -> Vector | Unavailable | EmbeddingFailed | None:
    """Embed the query, if the vector leg is asked for; a failure is returned, the model may have been changed."""
    if request.vector_weight == 0:
        return None
    try:
        return await embedder.embed_query(request.query)
    except (Unavailable, EmbeddingFailed) as error:
        return error


def _vector(
    embedded: Vector | Unavailable | EmbeddingFailed | None, request: SearchRequest, warnings: list[Notice]
) -> Vector | None:
    """When the model is out of order the fts leg answers alone, if it was asked for."""
    if not isinstance(embedded, Unavailable | EmbeddingFailed):
        return embedded
    if request.fts_weight == 0:
        raise embedded
    log.warning("vector_leg_unavailable", code=embedded.code, message=embedded.message)
    # what to set is for the operator's eyes too; what a provider said is for the log only
    reason = f": {embedded.message}" if "variables" in embedded.details else ""
    message = f"the query could not be embedded; only the BM25 leg answered{reason}"
    warnings.append(Notice("vector_unavailable", message))
    return None


async def _retrieve(moment: _Moment, asked: Resolved, scope: Scope, warnings: list[Notice]) -> Retrieved:
    """Run both legs; when the BM25 index is out of order the vector leg answers alone."""
    connection, embedding, request = moment.connection, moment.embedding, asked.request
    try:
        return await retrieve(connection, asked, embedding, scope, moment.around, fts_weight=request.fts_weight)
    except psycopg.Error as error:
        driver = await driver_connection(connection)
        if driver.closed or embedding is None or request.fts_weight == 0:
            raise
        log.warning("fts_leg_unavailable", message=str(error))
        await driver.rollback()
        around = await look_around(connection, request)
        if around.space.model != moment.model:
            raise Conflict("the embedding model was changed during the search; search again") from error
        scope = await resolve_scope(connection, request, around)
        retrieved = await retrieve(connection, asked, embedding, scope, around, fts_weight=0)
        warnings.append(Notice("fts_unavailable", "the BM25 leg failed; only the vector leg answered"))
        return retrieved


async def _look(moment: _Moment, asked: Resolved, scope: Scope, steps: Steps) -> Facts:
    """Ask the database how it looked, in the same snapshot."""
    with steps.step("explain"):
        return await look(
            moment.connection,
            fts_query_text=asked.fts_query_text if asked.request.fts_weight > 0 else None,
            embedding=moment.embedding,
            candidates=asked.request.candidates,
            collection_ids=scope.collection_ids,
            document_ids=scope.document_ids,
            min_vector_similarity=asked.request.min_vector_similarity,
            fts_terms=asked.request.fts_terms,
        )


def _explain(
    moment: _Moment,
    asked: Resolved,
    scope: Scope,
    facts: Facts,
    *,
    settings: SearchSettings,
    candidates: list[Candidate],
    result: SearchResult,
) -> Explanation:
    fts_failed = any(warning.code == "fts_unavailable" for warning in result.warnings)
    return explain(
        asked.request,
        facts,
        service=settings,
        fts_query_text=asked.fts_query_text,
        embedding_model=None if moment.embedding is None else moment.model,
        embedding_from_memory=moment.from_memory,
        fts_weight=0 if fts_failed else asked.request.fts_weight,
        eligible_documents=None if scope.document_ids is None else len(scope.document_ids),
        completeness=result.completeness,
        candidates=candidates,
        passages=result.passages,
    )


async def _rerank(
    parts: SearchParts, request: SearchRequest, passages: list[Passage], warnings: list[Notice]
) -> list[Passage]:
    """Rerank, or keep the fused order when the reranker is out of order."""
    ranked = passages[: request.top_n]
    if request.rerank and passages:
        try:
            ranked = await parts.reranker.rerank(request.query, passages, request.top_n, explain=request.explain)
        except RerankerUnavailable as error:
            log.warning("reranker_unavailable", message=error.message)
            warnings.append(Notice("rerank_unavailable", "the reranker did not answer; passages are in fused order"))
    return _good_enough(request, ranked, warnings)


def _good_enough(request: SearchRequest, ranked: list[Passage], warnings: list[Notice]) -> list[Passage]:
    """Leave out passages below ``min_rerank_score``, and those that got no score when others did."""
    least = request.min_rerank_score
    if least is None or not ranked:
        return ranked
    if all(passage.rerank_score is None for passage in ranked):
        message = "min_rerank_score was not applied: no reranker scored the passages"
        warnings.append(Notice("min_rerank_score_not_applied", message))
        return ranked
    return [passage for passage in ranked if passage.rerank_score is not None and passage.rerank_score >= least]
