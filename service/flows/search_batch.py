"""SEARCH BATCH FLOW: embed all queries ahead → search each, a few at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from service.db.engine import database_errors
from service.errors import FuziError, TooLarge
from service.search import SearchParts, search
from service.types import SearchRequest, SearchResult

log = structlog.get_logger()

type Outcome = SearchResult | FuziError


async def search_batch(parts: SearchParts, requests: Sequence[SearchRequest | FuziError]) -> list[Outcome]:
    """Return one outcome per request, in their order: what `search` answers or the error it raises for it alone.

    A request that could not even be understood comes as its error, and stays that.

    Raises:
        TooLarge: all requests together ask for more candidates than one batch may; nothing was searched.
    """
    asked = [request for request in requests if isinstance(request, SearchRequest)]
    candidates = sum(request.candidates for request in asked)
    limit = parts.settings.max_batch_candidates
    if candidates > limit:
        raise TooLarge(f"the queries ask for {candidates} candidates together, the limit is {limit}", limit=limit)
    parts = await _embed_ahead(parts, asked)
    at_once = asyncio.Semaphore(parts.settings.batch_concurrency)

    async def outcome(request: SearchRequest | FuziError) -> Outcome:
        if isinstance(request, FuziError):
            return request
        async with at_once:
            return await _outcome(parts, request)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(outcome(request)) for request in requests]
    return [task.result() for task in tasks]


async def _embed_ahead(parts: SearchParts, requests: Sequence[SearchRequest]) -> SearchParts:
    texts = dict.fromkeys(
        request.query
        for request in requests
        if request.vector_weight > 0 and request.query.replace("\0", "").strip()
        if len(request.query) <= parts.settings.max_query_characters
    )
    embedder = parts.embedder.current
    known_count = sum(embedder.knows_query(text) for text in texts)
    try:
        await embedder.prepare_queries(list(texts))
    except FuziError as error:  # each search will find out for itself, and may go on with its other leg
        log.warning("queries_not_embedded_ahead", code=error.code, message=error.message, queries=len(texts))
        return parts
    parts.metrics.query_vector(remembered=True, count=known_count)
    parts.metrics.query_vector(remembered=False, count=len(texts) - known_count)
    return replace(parts, embedded_ahead=True)


async def _outcome(parts: SearchParts, request: SearchRequest) -> Outcome:
    try:
        with database_errors():
            return await search(parts, request)
    except FuziError as error:
        return error
    except Exception:  # one query that finds a fault of ours must not take the others with it
        log.exception("search_failed")
        return FuziError("this query failed for a reason that was not foreseen; the log of the service has it")
