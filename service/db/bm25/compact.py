"""Make a BM25 index compact again: one segment instead of the many that writing leaves."""

from __future__ import annotations

import asyncio
import time

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.db.bm25.repair import _INDEXES, _LEFTOVERS, _TAKE_LOCK, LOCK
from service.db.engine import own_connection

log = structlog.get_logger()

_PAUSE_SECONDS = 1.0
_SEGMENTS = text("select count(*) from paradedb.index_info(to_regclass('rag.' || :name))")


async def compact_children(engine: AsyncEngine) -> tuple[int, int]:
    """Rebuild the children's index, beside reads and writes; return its segments before and after.

    Under the lock of the guards: one that is at a rebuild is waited for, and none begins meanwhile.
    """
    async with own_connection(engine) as connection:
        # waiting inside a statement would hold a snapshot, for which the other's rebuild would wait
        while not await connection.scalar(_TAKE_LOCK, {"lock": LOCK}):  # noqa: ASYNC110 - the lock is PostgreSQL's
            await asyncio.sleep(_PAUSE_SECONDS)
        return await compact(connection, "child_chunk_bm25")


async def compact(connection: AsyncConnection, name: str) -> tuple[int, int]:
    """Rebuild an index, beside reads and writes; return its segments before and after.

    The sentinel is left as it is. It says whether rows were lost, and a rebuild of a whole index loses none.

    Args:
        connection: a guard's own, with the lock of the guards.
    """
    begun = time.monotonic()
    for drop in (await connection.execute(_LEFTOVERS, {"name": name})).scalars().all():
        await connection.execute(text(drop))
    before = int(await connection.scalar(_SEGMENTS, {"name": name}) or 0)
    await connection.execute(_INDEXES[name].reindex)
    after = int(await connection.scalar(_SEGMENTS, {"name": name}) or 0)
    seconds = round(time.monotonic() - begun, 3)
    log.info("bm25_compacted", index=name, segments_before=before, segments_after=after, seconds=seconds)
    return before, after
