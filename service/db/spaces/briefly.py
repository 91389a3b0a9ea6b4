"""Changes of the chunk table that nobody notices: a lock that does not come at once is not waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import psycopg
import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.errors import Conflict

log = structlog.get_logger()

# Whoever waits for an exclusive lock makes everyone else wait behind it: this long may a search stand still.
_LOCK_TIMEOUT_MS = 100
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
# A dump of a large database holds the table that long.
_PATIENCE_SECONDS = 3600.0


async def briefly[Result](
    engine: AsyncEngine,
    change: Callable[[AsyncConnection], Awaitable[Result]],
    *,
    patience_seconds: float = _PATIENCE_SECONDS,
) -> Result:
    """Run a short change in a transaction of its own; a lock that is taken is tried for again, after a pause.

    Raises:
        Conflict: the lock was never free.
    """
    deadline, pause = time.monotonic() + patience_seconds, _FIRST_PAUSE_SECONDS
    while True:
        try:
            async with engine.begin() as connection:
                await connection.execute(text(f"set local lock_timeout = {_LOCK_TIMEOUT_MS}"))
                return await change(connection)
        except DBAPIError as error:
            if not isinstance(error.orig, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
                raise
            if time.monotonic() > deadline:
                raise Conflict(
                    "rag.child_chunk is held by another session all the time (a long transaction, a dump); "
                    "end it or wait for it, then run `fuzi reembed` again: it goes on where it stopped"
                ) from error
        log.info("child_chunk_is_held", retry_in_seconds=pause)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
