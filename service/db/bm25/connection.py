"""The guard's own connections, beside the pool that searches and jobs share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

_CONNECT_SECONDS = 10
# REINDEX takes as long as the table is large
_OPTIONS = "-c statement_timeout=0 -c lock_timeout=0 -c idle_session_timeout=0 -c application_name=fuzi-bm25-guard"


@asynccontextmanager
async def guard_connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Autocommit connection to the engine's database, closed at the end.

    Not one of the pool: the guard must see a loss while searches hold all of those, and take none of them for the
    length of a rebuild. It loads no dictionary either, so it opens in a few milliseconds.
    """
    own = create_async_engine(
        engine.url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        connect_args={"connect_timeout": _CONNECT_SECONDS, "options": _OPTIONS},
    )
    try:
        async with own.connect() as connection:
            yield connection
    finally:
        await own.dispose()
