"""Dimensions, jobs, originals and connections, as PostgreSQL and the store of originals have them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import uuid4

from rich.filesize import decimal
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.cli.work.checks import Finding, State
from service.config import Settings
from service.db.engine import create_engine, database_errors
from service.db.migrate import check_revision
from service.errors import NotFound, NotMigrated
from service.store.documents import NO_ORIGINAL
from service.store.originals import Originals, open_originals
from service.store.removals import STALE_AFTER, unreferenced
from service.wiring import database_dsn

_MOST_ORIGINALS = 1000
_BESIDE_THE_POOL = 5
"""Connections of a process for its queue, guard and replica."""
_SILENT_SECONDS = 60

_DIMENSION = text("""
    select m.dimension, format_type(a.atttypid, a.atttypmod) as type,
        (regexp_match(format_type(a.atttypid, a.atttypmod), '\\((\\d+)\\)'))[1]::integer as column_dimension
    from rag.embedding_model as m, pg_attribute as a
    where m.active and a.attrelid = 'rag.child_chunk'::regclass and a.attname = 'embedding'
""")
_JOBS = text("""
    select count(*) filter (where status = 'failed') as dead,
        count(*) filter (where status = 'received') as waiting,
        coalesce(extract(epoch from now() - min(created_at) filter (where status = 'received')), 0) as oldest_seconds,
        exists (
            select from queue.procrastinate_workers
            where last_heartbeat > now() - make_interval(secs => :silent)
        ) as has_worker
    from rag.job
    where finished_at is null or status = 'failed'
""")
_CONNECTIONS = text("""
    select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
            as most,
        (select count(*) from pg_stat_activity where backend_type = 'client backend') as used,
        pg_database_size(current_database()) as bytes
""")
_REFUSED = text("select count(*) from rag.original_removal where attempts > 0")
_KEYS = text("""
    select object_key from rag.document
    where object_key <> :none
    order by updated_at desc, id
    limit :most
""")


async def check_stored(settings: Settings) -> Iterable[Finding]:
    """Does what is stored fit together, and is somebody there to work on what waits?"""
    dsn = await asyncio.to_thread(database_dsn, settings)
    engine = create_engine(dsn, settings.database, settings.search)
    try:
        with database_errors():
            async with engine.connect() as connection:
                try:
                    await check_revision(connection)
                except NotMigrated:
                    return []  # said by the check of the schema
                findings = [
                    await _dimension(connection),
                    await _connections(connection, settings),
                    *await _jobs(connection),
                ]
            return findings + await _originals(engine, settings)
    finally:
        await engine.dispose()


async def _dimension(connection: AsyncConnection) -> Finding:
    row = (await connection.execute(_DIMENSION)).one()
    if row.dimension == row.column_dimension:
        return Finding("dimension", State.OK, f"rag.child_chunk.embedding is {row.type}, as its model's vectors are")
    reason = f"rag.child_chunk.embedding is {row.type}, but its model has {row.dimension} dimensions"
    return Finding("dimension", State.FAIL, reason, "fuzi restore FILE: somebody changed the table by hand")


async def _connections(connection: AsyncConnection, settings: Settings) -> Finding:
    row = (await connection.execute(_CONNECTIONS)).one()
    needed = settings.database.pool_size + _BESIDE_THE_POOL
    told = f"database of {decimal(row.bytes)}, {row.used} of {row.most} connections in use"
    if row.most - row.used >= needed:
        return Finding("connections", State.OK, told)
    mend = "raise max_connections of PostgreSQL, or lower FUZI_DATABASE__POOL_SIZE"
    return Finding("connections", State.WARN, f"{told}, and one more process may open {needed}", mend)


async def _jobs(connection: AsyncConnection) -> list[Finding]:
    row = (await connection.execute(_JOBS, {"silent": _SILENT_SECONDS})).one()
    findings = []
    if row.dead:
        mend = "fuzi jobs list --status failed says why; then fuzi jobs retry ID, or upload a better file"
        findings.append(Finding("jobs", State.WARN, f"{row.dead} uploads failed and wait for a decision", mend))
    if row.waiting and row.oldest_seconds > _SILENT_SECONDS and not row.has_worker:
        reason = f"{row.waiting} uploads wait, the first for {row.oldest_seconds / 60:.0f} minutes, and no worker runs"
        findings.append(Finding("jobs", State.WARN, reason, "fuzi worker, or fuzi serve with FUZI_JOBS__INSIDE_SERVE"))
    return findings or [Finding("jobs", State.OK, f"{row.waiting} uploads wait, none has failed")]


async def _originals(engine: AsyncEngine, settings: Settings) -> list[Finding]:
    """Documents without their file, and files without a document; no transaction is open while the store answers."""
    originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
    async with engine.connect() as connection:
        keys = list(await connection.scalars(_KEYS, {"most": _MOST_ORIGINALS, "none": NO_ORIGINAL}))
        refused = await connection.scalar(_REFUSED) or 0
    lost = [key for key in keys if not await _is_there(originals, key)]
    orphans = 0
    async for page in originals.older_than(datetime.now(UTC) - STALE_AFTER):
        async with engine.connect() as connection:
            orphans += len(await unreferenced(connection, page))
    findings = []
    if lost:
        reason = f"of the last {len(keys)} documents {len(lost)} have lost their file, {lost[0]} for one"
        mend = "upload them again, or put the files back from a backup (fuzi backup names all of them); searches go on"
        findings.append(Finding("orphans", State.WARN, reason, mend))
    if orphans:
        reason = f"{orphans} files in the store belong to no document"
        mend = "fuzi worker (or serve) deletes them within ten minutes"
        findings.append(Finding("orphans", State.WARN, reason, mend))
    if refused:
        reason = f"{refused} files of deleted documents could not be deleted yet"
        mend = "the account of the store must be allowed to delete; then fuzi worker does it"
        findings.append(Finding("orphans", State.WARN, reason, mend))
    return findings or [Finding("orphans", State.OK, f"none: the last {len(keys)} documents have their file")]


async def _is_there(originals: Originals, key: str) -> bool:
    try:
        await originals.size(key)
    except NotFound:
        return False
    return True
