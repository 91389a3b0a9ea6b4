"""Rebuild the BM25 indexes that lost their sentinel: one process at a time, beside reads and writes, and counted."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog
from sqlalchemy import TextClause, text
from sqlalchemy.exc import InternalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.db.bm25.sentinels import SENTINELS
from service.db.engine import own_connection

log = structlog.get_logger()

LOCK = 0x626D3235  # "bm25": any number will do, as long as all guards take the same
_WAL_LOGGED = (0, 24)
"""From this version of pg_search on, PostgreSQL's recovery repairs the indexes itself."""

# Waiting for the lock inside a statement would hold a snapshot, and REINDEX CONCURRENTLY waits for all older ones.
_TAKE_LOCK = text("select pg_try_advisory_lock(:lock)")
_PG_SEARCH_VERSION = text("select extversion from pg_extension where extname = 'pg_search'")
_EXISTS = text("select to_regclass('rag.' || :name) is not null")
# left invalid by a REINDEX CONCURRENTLY that was broken off, before (_ccnew) or after (_ccold) it had swapped the two
_LEFTOVERS = text("""
    select format('drop index concurrently if exists %I.%I', n.nspname, i.relname)
    from pg_index as x
    join pg_class as i on i.oid = x.indexrelid
    join pg_namespace as n on n.oid = i.relnamespace
    where n.nspname = 'rag' and not x.indisvalid and i.relname ~ ('^' || :name || '_cc(new|old)[0-9]*$')
    order by i.relname
""")
_TRUST = text("insert into rag.bm25_sentinel (index_name) values (:name) on conflict do nothing")
_DISTRUST = text("delete from rag.bm25_sentinel where index_name = :name")


@dataclass(frozen=True, slots=True)
class _Statements:
    reindex: TextClause
    count: TextClause
    """Rows of the table, and those of them that the index knows: of one snapshot, so they are equal or rows are lost.

    `paradedb.index_info` would count dead rows as well, which can hide missing ones.
    """


_INDEXES = {
    "child_chunk_bm25": _Statements(
        text("reindex index concurrently rag.child_chunk_bm25"),
        text("""
            select
                (select count(*) from rag.child_chunk) as row_count,
                (select count(*) from rag.child_chunk where id @@@ pdb.all()) as indexed_count
        """),
    ),
    "parent_chunk_bm25": _Statements(
        text("reindex index concurrently rag.parent_chunk_bm25"),
        text("""
            select
                (select count(*) from rag.parent_chunk) as row_count,
                (select count(*) from rag.parent_chunk where id @@@ pdb.all()) as indexed_count
        """),
    ),
}


class Outcome(StrEnum):
    """What became of an index; only the first two end with a sentinel."""

    REBUILT = "rebuilt"
    VERIFIED = "verified"
    """Not rebuilt: its pg_search is crash-safe, and the count agrees."""
    INCOMPLETE = "incomplete"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Repair:
    """One index that had no sentinel."""

    index_name: str
    outcome: Outcome
    row_count: int
    seconds: float

    @property
    def is_whole(self) -> bool:
        """Whether the index can be trusted now."""
        return self.outcome in {Outcome.REBUILT, Outcome.VERIFIED}


async def repair(
    engine: AsyncEngine, *, recount: bool = False, clock: Callable[[], float] = time.monotonic
) -> list[Repair] | None:
    """Make every BM25 index without a sentinel whole again; reads and writes go on meanwhile.

    One session does it all: a crash ends the session, so a sentinel can only follow a build that no crash has hit.

    Args:
        engine: names the database; its pool is not used.
        recount: count the trusted indexes too, and rebuild those that lack rows.
        clock: monotonic seconds.

    Returns:
        One entry for each index that had to be looked after, or None when another process is at it.

    Raises:
        sqlalchemy.exc.DBAPIError: no rights to rebuild, or the server is gone. Nothing is trusted then.
    """
    async with own_connection(engine) as connection:
        if not await connection.scalar(_TAKE_LOCK, {"lock": LOCK}):
            return None
        trusted = set((await connection.execute(text(SENTINELS))).scalars())
        if recount:
            trusted -= await _distrust_incomplete(connection, trusted)
        version = await connection.scalar(_PG_SEARCH_VERSION)
        return [await _repair_one(connection, name, version or "", clock) for name in _INDEXES if name not in trusted]


async def trust_counted(connection: AsyncConnection) -> list[str]:
    """Write the sentinels of indexes that were built after ``connection`` was opened, as far as a count finds them
    whole; return the names of the others. The session proves that no crash has hit the builds."""
    incomplete = []
    for name in _INDEXES:
        exists = await connection.scalar(_EXISTS, {"name": name})
        if exists and (await _count(connection, name))[1] == 0:
            await connection.execute(_TRUST, {"name": name})
        else:
            incomplete.append(name)
    return incomplete


def is_wal_logged(pg_search_version: str) -> bool:
    """Whether this version of pg_search writes its indexes to PostgreSQL's log; not when it cannot be read."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", pg_search_version)[:2])
    return numbers >= _WAL_LOGGED


async def _distrust_incomplete(connection: AsyncConnection, trusted: set[str]) -> set[str]:
    """Take the sentinels of indexes that lack rows away, so that every process learns of it; return their names."""
    incomplete = set()
    for name in sorted(trusted & _INDEXES.keys()):
        row_count, missing = await _count(connection, name)
        if missing != 0:
            log.warning("bm25_rows_missing", index=name, row_count=row_count, missing=missing)
            await connection.execute(_DISTRUST, {"name": name})
            incomplete.add(name)
    return incomplete


async def _repair_one(connection: AsyncConnection, name: str, version: str, clock: Callable[[], float]) -> Repair:
    begun = clock()
    values: dict[str, Any] = {"name": name}
    for drop in (await connection.execute(_LEFTOVERS, values)).scalars().all():
        log.info("bm25_leftover_dropped", index=name, statement=drop)
        await connection.execute(text(drop))
    if not await connection.scalar(_EXISTS, values):
        log.error("bm25_index_missing", index=name)
        return Repair(name, Outcome.MISSING, 0, clock() - begun)
    outcome = Outcome.VERIFIED
    row_count, missing = await _count(connection, name) if is_wal_logged(version) else (0, None)
    if missing != 0:
        log.info("bm25_rebuild_started", index=name)
        await connection.execute(_INDEXES[name].reindex)
        outcome = Outcome.REBUILT
        row_count, missing = await _count(connection, name)
    if missing == 0:
        await connection.execute(_TRUST, values)
    else:
        outcome = Outcome.INCOMPLETE
    done = Repair(name, outcome, row_count, clock() - begun)
    facts = {"row_count": row_count, "missing": missing, "seconds": round(done.seconds, 3)}
    (log.info if done.is_whole else log.error)("bm25_repaired", index=name, outcome=outcome, **facts)
    return done


async def _count(connection: AsyncConnection, name: str) -> tuple[int, int | None]:
    """Rows of the table, and how many of them the index lacks: None when it is too broken to be counted."""
    try:
        row = (await connection.execute(_INDEXES[name].count)).one()
    except InternalError as error:
        log.warning("bm25_index_unreadable", index=name, message=str(error.orig))
        return 0, None
    return row.row_count, row.row_count - row.indexed_count
