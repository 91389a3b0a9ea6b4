"""Connections to PostgreSQL, made ready for searching, and what its failures are called here."""

from __future__ import annotations

import math
import select
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import psycopg
import sqlalchemy.exc
from pgvector.psycopg import register_vector_async
from sqlalchemy import URL, Engine, event, make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from service.config import DatabaseSettings, SearchSettings
from service.errors import Conflict, DatabaseUnavailable, Misconfigured
from service.tracing.statements import trace_statements

_SEARCH_PATH = """
select set_config(
    'search_path',
    concat_ws(', ', 'pg_catalog', 'rag', 'queue', (
        select quote_ident(n.nspname)
        from pg_catalog.pg_extension as e
        join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
        where e.extname = 'vector'
    ), 'pg_temp'),
    false
)
"""
_IS_READY = """
select
    count(*) = 2,
    pg_catalog.to_regprocedure('rag.fts_query(text, text, bigint[], uuid[])') is not null
from pg_catalog.pg_extension
where extname in ('vector', 'pg_search')
"""
# What rag.fts_candidates cuts texts with: the first use in a connection loads the dictionary (0.6 s on a busy machine;
# chinese_convert, which none of them has, another 0.8), so that no search pays for it.
WARM_TOKENIZERS = "select rag.fts_query('中文') is null"
_CONNECT_SECONDS = 10
# an index takes as long as its table is large
_PATIENT = {
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_session_timeout": "0",
    "application_name": "fuzi-guard",
}
_TRUSTED_SECONDS = 30
"""A connection that was used so recently is asked whether it lives only when it looks as if it did not."""


def driver_url(dsn: str) -> URL:
    """SQLAlchemy URL of a PostgreSQL URL, with psycopg as its driver.

    Raises:
        Misconfigured: it is no PostgreSQL URL. The message does not repeat it, it may hold a password.
    """
    try:
        url = make_url(dsn)
    except sqlalchemy.exc.ArgumentError:
        raise Misconfigured(
            "the database URL cannot be read; it looks like postgresql://user:password@host/db"
        ) from None
    if url.get_backend_name() not in {"postgresql", "postgres"}:
        raise Misconfigured(f"the database URL must begin with postgresql://, not {url.drivername}://")
    return url.set(drivername="postgresql+psycopg")


def libpq_url(dsn: str, *, database: str | None = None) -> str:
    """The URL as libpq and its programs read it, of another database of the same server if one is named.

    It holds the password.

    Raises:
        Misconfigured: see `driver_url`.
    """
    url = driver_url(dsn).set(drivername="postgresql")
    return url.set(database=database or url.database).render_as_string(hide_password=False)


def create_engine(dsn: str, settings: DatabaseSettings, search: SearchSettings) -> AsyncEngine:
    """Engine whose connections are ready to search; opens none yet.

    Every connection gets its planner and index settings when it is opened, since a plan cached before a later
    ``set`` would keep its workers; then the vector types and the Chinese dictionary. A database without the extensions
    or the schema can be connected to as well. Connections that a restart of the server has cut are replaced unseen.
    """
    engine = create_async_engine(
        driver_url(dsn),
        pool_size=settings.pool_size,
        max_overflow=0,
        # a backend that worked a moment ago still has its caches warm
        pool_use_lifo=True,
        pool_timeout=settings.statement_timeout_seconds,
        connect_args={
            # libpq counts whole seconds
            "connect_timeout": math.ceil(settings.connect_timeout_seconds),
            "options": _options(session_settings(settings, search)),
        },
    )
    event.listen(engine.sync_engine, "connect", _prepare)
    event.listen(engine.sync_engine, "checkout", partial(_look, engine.sync_engine))
    event.listen(engine.sync_engine, "checkin", _note_time)
    return engine


def session_settings(settings: DatabaseSettings, search: SearchSettings) -> Mapping[str, str]:
    """PostgreSQL settings of a searching connection, with the reason of each."""
    return {
        # each worker would load the Chinese dictionary for each query: 147 ms instead of 9 at 200,000 chunks
        "max_parallel_workers_per_gather": "0",
        # filters that are not given fold away only when the planner sees the values
        "plan_cache_mode": "force_custom_plan",
        # an index scan brings at most this many rows before it has to go on
        "hnsw.ef_search": str(max(search.ef_search, search.candidates)),
        # goes on until the limit is met, so that filtered searches are not cut short; strict_order throws away what it
        # finds too late, and is no faster: recall .960 against .984 at a filter of 10 %
        "hnsw.iterative_scan": "relaxed_order",
        # compiling takes longer than our statements run
        "jit": "off",
        "statement_timeout": f"{math.ceil(settings.statement_timeout_seconds * 1000)}ms",
        "application_name": "fuzi",
    }


@asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Transaction without `statement_timeout`, for writes that take as long as a document has chunks."""
    async with engine.begin() as connection:
        await connection.execute(text("set local statement_timeout = 0"))
        yield connection


@asynccontextmanager
async def own_connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Autocommit connection to the engine's database beside its pool, closed at the end: for those who look after it.

    They must see what happens while searches hold all connections of the pool, and take none of them for the length of
    a build. It loads no dictionary either, so it opens in a few milliseconds.
    """
    own = create_async_engine(
        engine.url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        connect_args={"connect_timeout": _CONNECT_SECONDS, "options": _options(_PATIENT)},
    )
    try:
        async with own.connect() as connection:
            yield connection
    finally:
        await own.dispose()


async def driver_connection(connection: AsyncConnection) -> psycopg.AsyncConnection[Any]:
    """Return the psycopg connection below, in the same transaction: for COPY and for values in binary."""
    driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, psycopg.AsyncConnection)  # noqa: S101 - the engine is always psycopg's
    return driver


def _options(values: Mapping[str, str]) -> str:
    return " ".join(f"-c {name}={value}" for name, value in values.items())


def _prepare(dbapi_connection: Any, _record: Any) -> None:
    dbapi_connection.run_async(_prepare_async)


async def _prepare_async(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)
    # on a busy machine the dictionary may take longer than a statement is allowed to
    await connection.execute("set statement_timeout = 0")
    await connection.execute(_SEARCH_PATH)
    found = await (await connection.execute(_IS_READY)).fetchone()
    has_extensions, has_functions = found or (False, False)
    if has_extensions:
        await register_vector_async(connection)
        if has_functions:
            await connection.execute(WARM_TOKENIZERS)
    await connection.execute("reset statement_timeout")
    await connection.set_autocommit(False)
    trace_statements(connection)


def _note_time(_dbapi_connection: Any, record: Any) -> None:
    record.info["left"] = time.monotonic()


def _look(engine: Engine, dbapi_connection: Any, record: Any, _proxy: Any) -> None:
    """Let the pool replace a connection that a server has cut.

    A server that ends, or whose machine closes its sockets for it, has left something to read; only then, and after a
    while without use, in which the way there may have been lost, is it asked: a message there and back.
    """
    now = time.monotonic()
    is_recent = now - record.info.get("left", now) < _TRUSTED_SECONDS
    try:
        if not is_recent or _has_something_to_read(dbapi_connection.driver_connection):
            engine.dialect.do_ping(dbapi_connection)
    except psycopg.Error as error:
        raise sqlalchemy.exc.DisconnectionError("PostgreSQL has closed the connection") from error


def _has_something_to_read(connection: psycopg.AsyncConnection[Any]) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn failures of the server or of the way to it into our own errors; errors in a statement pass through.

    Raises:
        DatabaseUnavailable: no connection, connection lost, or no answer in time.
        Conflict: a deadlock or a serialization failure; the same work may succeed when tried again.
    """
    try:
        yield
    except sqlalchemy.exc.TimeoutError as error:
        raise DatabaseUnavailable("all database connections are in use") from error
    except sqlalchemy.exc.DBAPIError as error:
        mapped = _mapped(error.orig, lost=error.connection_invalidated)
        if mapped is None:
            raise
        raise mapped from error
    except psycopg.Error as error:
        mapped = _mapped(error, lost=False)
        if mapped is None:
            raise
        raise mapped from error


def _mapped(error: BaseException | None, *, lost: bool) -> DatabaseUnavailable | Conflict | None:
    if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure):
        return Conflict("another change of the same rows was faster; try again")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return DatabaseUnavailable("PostgreSQL did not finish the statement in time")
    if lost or isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return DatabaseUnavailable("PostgreSQL does not answer")
    return None
