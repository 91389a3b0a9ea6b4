"""The search log: written beside the searches, a batch a second, so that none waits for it."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import structlog
from sqlalchemy import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.search_models import SearchLog as Row
from service.types import SearchRequest, SearchResult

log = structlog.get_logger()

_BATCH_SECONDS = 1.0
_MOST_WAITING = 10_000


class SearchLog:
    """Notes searches in ``rag.search_log``.

    Entries of the last second are lost when the process is killed; the log is for analysts, not for accounts.

    Args:
        share: part of the searches that is noted, 0 (none) to 1 (all), by chance.
    """

    def __init__(self, engine: AsyncEngine, share: float) -> None:
        self._engine = engine
        self._share = share
        self._waiting: list[dict[str, Any]] = []
        self._writer: asyncio.Task[None] | None = None

    def note(self, request: SearchRequest, result: SearchResult) -> None:
        """Put a search that was answered in line to be written."""
        if random.random() >= self._share or len(self._waiting) >= _MOST_WAITING:  # noqa: S311 - a sample, no secret
            return
        self._waiting.append(_row(request, result))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_later())

    async def close(self) -> None:
        """Write what is in line."""
        if self._writer is not None:
            self._writer.cancel()
        await self._write()

    async def _write_later(self) -> None:
        await asyncio.sleep(_BATCH_SECONDS)
        await self._write()

    async def _write(self) -> None:
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        try:
            async with self._engine.begin() as connection:
                await connection.execute(insert(Row), rows)
        except SQLAlchemyError as error:
            log.warning("search_log_lost", entries=len(rows), error=str(error))


def _row(request: SearchRequest, result: SearchResult) -> dict[str, Any]:
    return {
        "search_id": result.search_id,
        "query": request.query.replace("\0", "").encode("utf-8", "ignore").decode("utf-8"),
        "parameters": {
            "top_n": request.top_n,
            "candidates": request.candidates,
            "vector_weight": request.vector_weight,
            "fts_weight": request.fts_weight,
            "rrf_k": request.rrf_k,
            "rerank": request.rerank,
            "collections": None if request.searched is None else list(request.searched),
            "filtered": not request.filters.is_empty,
        },
        "timings_ms": dict(result.timings_ms),
        "result_chunk_ids": [passage.chunk_id for passage in result.passages],
        "warnings": [{"code": notice.code, "message": notice.message} for notice in result.warnings],
    }
