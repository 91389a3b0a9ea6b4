"""Sessions that make, feed and look at a replica, beside the pools that searches share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from service.db.engine import database_errors, libpq_url

type Session = psycopg.AsyncConnection[Any]

_CONNECT_SECONDS = 10
_UNHURRIED = "-c statement_timeout=0 -c lock_timeout=0 -c idle_session_timeout=0 -c application_name=fuzi-replica"


@asynccontextmanager
async def session(dsn: str) -> AsyncIterator[Session]:
    """Autocommit session without time limits; rows have the names of their columns.

    Raises:
        DatabaseUnavailable: the server does not answer, or the session was cut.
    """
    with database_errors():
        connection = await psycopg.AsyncConnection.connect(
            libpq_url(dsn),
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            options=_UNHURRIED,
            row_factory=namedtuple_row,
        )
        async with connection:
            yield connection


async def looking(dsn: str, seconds: float) -> Session:
    """Session for short looks, which notices within ``seconds`` or so that the network has gone."""
    whole = max(1, round(seconds))
    return await psycopg.AsyncConnection.connect(
        libpq_url(dsn),
        autocommit=True,
        connect_timeout=max(2, whole),
        options=f"-c statement_timeout={whole}s -c application_name=fuzi-replica-look",
        row_factory=namedtuple_row,
        keepalives_idle=whole,
        keepalives_interval=1,
        keepalives_count=3,
        tcp_user_timeout=1000 * whole,
    )


async def one(connection: Session, statement: Any, *values: object) -> Any:
    """The first row of a statement, or None."""
    return await (await connection.execute(statement, values or None)).fetchone()
