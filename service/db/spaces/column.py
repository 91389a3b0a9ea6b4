"""The standby column and its two indexes: made and dropped at run time, since dimensions are data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import structlog
from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config import EmbedSettings
from service.db.engine import driver_connection
from service.db.spaces.rows import STANDBY_COLUMN
from service.db.spaces.vector_type import chosen_type, storage, stored_type, vector_bytes
from service.types import EmbeddingModel

log = structlog.get_logger()

HNSW, STANDBY_HNSW = "child_chunk_embedding_hnsw", "child_chunk_embedding_standby_hnsw"
MISSING = "child_chunk_embedding_standby_missing"
"""Partial index of the rows that lack their standby vector: none left is seen at once, however large the table."""
STANDBY_COMMENT = "Vector of the model on standby, null where `fuzi reembed` has not filled it (yet)"

_HAS_COLUMN = text("""
    select exists (
        select from pg_attribute
        where attrelid = 'rag.child_chunk'::regclass and attname = 'embedding_standby' and not attisdropped
    )
""")
_INDEX = text("""
    select x.indisvalid from pg_index as x
    where x.indexrelid = to_regclass('rag.' || :name)
""")
_HNSW_OPTIONS = text("""
    select coalesce(array_to_string(c.reloptions, ', '), 'm=16, ef_construction=64')
    from pg_class as c
    where c.oid = to_regclass('rag.' || :name)
""")


async def add_column(
    connection: AsyncConnection, model: EmbeddingModel, settings: EmbedSettings, active: EmbeddingModel
) -> None:
    """Add the standby column, of the type of the settings, unless it is there: a moment's work, no row is touched.

    Raises:
        Misconfigured: no HNSW index can hold the model's vectors in the type of the settings.
    """
    if await has_column(connection):
        return
    kind = chosen_type(settings, model.dimension)
    # beside the active vector, which may lie in the row as well
    place = storage(vector_bytes(kind, model.dimension), await _active_bytes(connection, active))
    await _run(connection, f"alter table rag.child_chunk add column embedding_standby {kind}({int(model.dimension)})")
    await _set_storage(connection, "embedding_standby", place)
    await _run(connection, f"comment on column rag.child_chunk.embedding_standby is '{STANDBY_COMMENT}'")


async def drop_column(connection: AsyncConnection, active: EmbeddingModel) -> None:
    """Drop the standby column with its indexes; no row is touched, the room is free again as rows are rewritten."""
    await _run(connection, "alter table rag.child_chunk drop column if exists embedding_standby")
    await _set_storage(connection, "embedding", storage(await _active_bytes(connection, active)))


async def has_column(connection: AsyncConnection) -> bool:
    """Whether the standby column exists."""
    return bool(await connection.scalar(_HAS_COLUMN))


async def is_indexed(connection: AsyncConnection) -> bool:
    """Whether the standby vectors have their HNSW index, complete."""
    return bool(await connection.scalar(_INDEX, {"name": STANDBY_HNSW}))


async def index_missing(engine: AsyncEngine) -> None:
    """Make the partial index of rows without standby vector, beside reads and writes."""
    async with maintenance(engine) as connection:
        await build_index(connection, MISSING, "rag.child_chunk (id) where embedding_standby is null")


async def index_vectors(engine: AsyncEngine) -> None:
    """Make the HNSW index of the standby vectors, beside reads and writes, with the options of the active one."""
    async with maintenance(engine) as connection:
        options = await connection.scalar(_HNSW_OPTIONS, {"name": HNSW}) or "m=16, ef_construction=64"
        operators = f"{await stored_type(connection, STANDBY_COLUMN)}_cosine_ops"
        definition = f"rag.child_chunk using hnsw (embedding_standby {operators}) with ({options})"
        await build_index(connection, STANDBY_HNSW, definition)


async def vacuum(engine: AsyncEngine) -> None:
    """Clear the dead rows away that filling left, and tell the planner of the new vectors."""
    async with maintenance(engine) as connection:
        await _run(connection, "vacuum (analyze) rag.child_chunk")


async def build_index(connection: AsyncConnection, name: str, definition: str) -> None:
    """Build an index concurrently, unless it is there; one that was broken off is dropped and built anew.

    Args:
        connection: of `maintenance`.
        definition: what follows ``on`` in the statement.
    """
    valid = await connection.scalar(_INDEX, {"name": name})
    if valid is False:
        await drop_index(connection, name)
    if not valid:
        await _run(connection, f"create index concurrently {name} on {definition}")


async def drop_index(connection: AsyncConnection, name: str) -> None:
    """Drop an index if it is there, beside reads and writes; ``connection`` is of `maintenance`."""
    await _run(connection, f"drop index concurrently if exists rag.{name}")


@asynccontextmanager
async def maintenance(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Autocommit connection whose statements take as long as the table is large.

    What PostgreSQL remarks is logged: that maintenance_work_mem is too small for an index makes it many times slower.
    """
    async with engine.connect() as connection:
        (await driver_connection(connection)).add_notice_handler(_log_notice)
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.execute(text("set statement_timeout = 0"))
        # a build whose process was killed ends with it, instead of standing in the way of the next one
        await connection.execute(text("set client_connection_check_interval = '2s'"))
        try:
            yield connection
        finally:
            # it may be in the middle of a statement that was broken off
            await connection.invalidate()


def _log_notice(notice: psycopg.errors.Diagnostic) -> None:
    log.warning("postgresql_notice", message=notice.message_primary, hint=notice.message_hint)


async def _set_storage(connection: AsyncConnection, column: str, place: str) -> None:
    """Where vectors written from now on lie: in the row, or outside it."""
    await _run(connection, f"alter table rag.child_chunk alter column {column} set storage {place}")


async def _active_bytes(connection: AsyncConnection, active: EmbeddingModel) -> int:
    return vector_bytes(await stored_type(connection) or "vector", active.dimension)


async def _run(connection: AsyncConnection, statement: str) -> None:
    """Run DDL, which takes no parameters: its variable parts are numbers and names of this package."""
    await connection.execute(_ddl(statement))


def _ddl(statement: str) -> TextClause:
    return text(statement.replace(":", r"\:"))
