"""Sessions that dump, restore and check: no time limit, beside the pool that searches and jobs share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import psycopg
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from service.db.engine import database_errors, driver_url, libpq_url

type Isolation = Literal["AUTOCOMMIT", "READ COMMITTED", "REPEATABLE READ"]

_CONNECT_SECONDS = 10
_OPTIONS = (
    "-c statement_timeout=0 -c lock_timeout=0 -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0 "
    "-c max_parallel_workers_per_gather=0 -c application_name=fuzi-archive"
)


@asynccontextmanager
async def unhurried(dsn: str, isolation: Isolation = "AUTOCOMMIT") -> AsyncIterator[AsyncConnection]:
    """A session of its own; what is not committed in the block is rolled back."""
    engine = create_async_engine(
        driver_url(dsn),
        poolclass=NullPool,
        isolation_level=isolation,
        connect_args={"connect_timeout": _CONNECT_SECONDS, "options": _OPTIONS},
    )
    try:
        with database_errors():
            async with engine.connect() as connection:
                yield connection
    finally:
        await engine.dispose()


@asynccontextmanager
async def administering(dsn: str) -> AsyncIterator[psycopg.AsyncConnection[tuple[object, ...]]]:
    """A session in the server's maintenance database, for statements about other databases."""
    elsewhere = "postgres" if make_url(dsn).database != "postgres" else "template1"
    with database_errors():
        connection = await psycopg.AsyncConnection.connect(
            libpq_url(dsn, database=elsewhere), autocommit=True, connect_timeout=_CONNECT_SECONDS, options=_OPTIONS
        )
        async with connection:
            yield connection
