"""The HNSW index of an empty table, set aside while many documents come in, and built over all of them at once.

What is set aside leaves an index in its place that no row ever enters (`where false`). It costs nothing, it keeps the
options, and it is the note that the other one is to be built: for the guard of a service, or `fuzi doctor --repair`,
when whoever set it aside is gone. Meanwhile searches compare all vectors: slower, and exact.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.db.spaces.alone import alone
from service.db.spaces.briefly import briefly
from service.db.spaces.column import HNSW, build_index, drop_index, maintenance
from service.errors import Conflict

STAND_IN = "child_chunk_embedding_hnsw_deferred"

_PATIENCE_SECONDS = 5.0
_LOCK = text("lock table rag.child_chunk in access exclusive mode")
_HAS_ROWS = text("select exists (select from rag.child_chunk)")
_DEFINITION = text("select pg_get_indexdef(to_regclass('rag.' || :name))")
_NEVER = " WHERE false"


async def defer_index(engine: AsyncEngine) -> bool:
    """Set the index aside if the table is empty; whether it is set aside now, by this call or an earlier one.

    Only whoever is `alone` may call it. A table that others hold is left as it is: it is soon not empty any more.
    """
    try:
        return await briefly(engine, _set_aside, patience_seconds=_PATIENCE_SECONDS)
    except Conflict:
        return False


async def is_deferred(connection: AsyncConnection) -> bool:
    """Whether the index is set aside."""
    return await connection.scalar(_DEFINITION, {"name": STAND_IN}) is not None


async def build_deferred(engine: AsyncEngine) -> bool:
    """Build the index that is set aside, beside reads and writes; whether there was one. Only for who is `alone`.

    After any interruption another call does what is left.
    """
    async with maintenance(engine) as connection:
        return await build_by(connection)


async def build_by(connection: AsyncConnection) -> bool:
    """As `build_deferred`, by an autocommit connection of which nobody cuts the time short."""
    stand_in = await connection.scalar(_DEFINITION, {"name": STAND_IN})
    if stand_in is None:
        return False
    await build_index(connection, HNSW, _of_all_rows(stand_in))
    await drop_index(connection, STAND_IN)
    return True


async def build_left_behind(engine: AsyncEngine) -> bool:
    """Build the index if whoever set it aside is gone; whether that was done. Looks, and mostly does nothing."""
    async with engine.connect() as connection:
        if not await is_deferred(connection):
            return False
    async with alone(engine) as is_free:
        return is_free and await build_deferred(engine)


async def _set_aside(connection: AsyncConnection) -> bool:
    await connection.execute(_LOCK)
    if await is_deferred(connection):
        return True
    definition = await connection.scalar(_DEFINITION, {"name": HNSW})
    if definition is None or await connection.scalar(_HAS_ROWS):
        return False
    await connection.exec_driver_sql(definition.replace(HNSW, STAND_IN, 1) + _NEVER)
    await connection.exec_driver_sql(f"drop index rag.{HNSW}")
    return True


def _of_all_rows(definition: str) -> str:
    """What follows ``create index`` and the name in the definition of the whole index."""
    return definition.partition(" ON ")[2].removesuffix(_NEVER)
