"""Make a BM25 index compact again after many of its rows were rewritten."""

from __future__ import annotations

import asyncio

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.bm25.connection import guard_connection
from service.db.bm25.repair import _LEFTOVERS, _TAKE_LOCK, LOCK

log = structlog.get_logger()

_PAUSE_SECONDS = 1.0
_SEGMENTS = text("select count(*) from paradedb.index_info('rag.child_chunk_bm25')")


async def compact_children(engine: AsyncEngine) -> tuple[int, int]:
    """Rebuild the children's index, beside reads and writes; return its segments before and after.

    Under the lock of the guards: one that is at a rebuild is waited for, and none begins meanwhile. The sentinel is
    left as it is. It says whether rows were lost, and a rebuild of a whole index loses none.
    """
    async with guard_connection(engine) as connection:
        # waiting inside a statement would hold a snapshot, for which the other's rebuild would wait
        while not await connection.scalar(_TAKE_LOCK, {"lock": LOCK}):  # noqa: ASYNC110 - the lock is PostgreSQL's
            await asyncio.sleep(_PAUSE_SECONDS)
        for drop in (await connection.execute(_LEFTOVERS, {"name": "child_chunk_bm25"})).scalars().all():
            await connection.execute(text(drop))
        before = await connection.scalar(_SEGMENTS)
        await connection.execute(text("reindex index concurrently rag.child_chunk_bm25"))
        after = await connection.scalar(_SEGMENTS)
    log.info("bm25_compacted", index="child_chunk_bm25", segments_before=before, segments_after=after)
    return int(before or 0), int(after or 0)
