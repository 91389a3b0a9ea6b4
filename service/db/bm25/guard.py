"""The guard of one process: looks at the indexes on a timer, repairs what lost its sentinel, compacts what is split.

It also builds the index of vectors that a broken off import left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import DatabaseSettings
from service.db.bm25.compactor import Compactor
from service.db.bm25.health import Bm25Health
from service.db.bm25.repair import repair
from service.db.bm25.sentinels import READABLE, SENTINELS
from service.db.engine import own_connection
from service.db.spaces.deferred import build_left_behind

log = structlog.get_logger()

_LOOK_SECONDS = 10.0
_LONGEST_WAIT_SECONDS = 600.0
"""A repair that does not help is tried again after ever longer waits: it reads the whole table."""
_MOST_SEGMENTS, _REST_SECONDS = 8, 60.0
_COUNT_SECONDS = 3600.0
"""Counting reads both tables and is only the second line: the sentinel misses no crash."""


@asynccontextmanager
async def guarding(
    engine: AsyncEngine,
    health: Bm25Health,
    *,
    look_seconds: float = _LOOK_SECONDS,
    count_seconds: float = _COUNT_SECONDS,
    most_segments: int = _MOST_SEGMENTS,
    rest_seconds: float = _REST_SECONDS,
) -> AsyncIterator[None]:
    """Guard the BM25 indexes while the block runs; the first look, with a count, is taken at once.

    A rebuild that is under way at the end is broken off; the next guard drops what it leaves.

    Args:
        look_seconds: time between two looks.
        count_seconds: time between two counts of what the indexes hold.
        most_segments: an index with more is made compact (`Compactor`),
        rest_seconds: when it was not written to for so long.
    """
    compactor = Compactor(most_segments, rest_seconds)
    task = asyncio.create_task(_guard(engine, health, compactor, look_seconds, count_seconds), name="bm25 guard")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def guarding_by(
    settings: DatabaseSettings, engine: AsyncEngine, health: Bm25Health
) -> AbstractAsyncContextManager[None]:
    """Guard the BM25 indexes as the settings say; see `guarding`."""
    return guarding(
        engine,
        health,
        look_seconds=settings.guard_seconds,
        most_segments=settings.compact_above_segments,
        rest_seconds=settings.compact_after_seconds,
    )


async def look(engine: AsyncEngine, health: Bm25Health) -> bool:
    """See which indexes have a sentinel now; False where there is none to see (a standby, or no rights)."""
    async with own_connection(engine) as connection:
        if not await connection.scalar(text(READABLE)):
            return False
        health.observe(set((await connection.execute(text(SENTINELS))).scalars()))
        return True


async def _guard(
    engine: AsyncEngine, health: Bm25Health, compactor: Compactor, look_seconds: float, count_seconds: float
) -> None:
    clock = asyncio.get_running_loop().time
    count_at = repair_at = clock()
    wait = look_seconds
    while True:
        try:
            readable, recount = await look(engine, health), clock() >= count_at
            if readable and (recount or (health.lost and clock() >= repair_at)):
                count_at = clock() + count_seconds if recount else count_at
                # holds when this try raises or does not help
                wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
                repair_at = clock() + wait
                repairs = await repair(engine, recount=recount)
                health.repaired(repairs or ())
                if repairs is None or all(done.is_whole for done in repairs):
                    wait, repair_at = look_seconds, clock()
                await look(engine, health)
            if readable:
                await compactor.look(engine, health)
                if await build_left_behind(engine):
                    log.info("vector_index_built")
        except Exception as error:
            log.warning("bm25_guard_failed", error=str(error))
        await asyncio.sleep(look_seconds)
