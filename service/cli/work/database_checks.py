"""What ``fuzi doctor`` looks at inside PostgreSQL."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.cli.next_steps import next_step
from service.cli.work.checks import Finding, State
from service.config import EmbedSettings, Settings
from service.db.bm25 import repair
from service.db.engine import create_engine, database_errors
from service.db.extensions import INSTALL, is_available
from service.db.migrate import check
from service.db.spaces.column import HNSW
from service.db.spaces.deferred import STAND_IN, build_left_behind
from service.db.spaces.vector_type import asks_for_another, stored_type
from service.errors import FuziError, NotMigrated
from service.wiring import database_dsn

_OLDEST = {"postgresql": (15,), "vector": (0, 8), "pg_search": (0, 21)}
_VECTOR_WITHOUT_FAULTS = (0, 8, 4)
_VERSIONS = text("""
    select 'postgresql' as name, current_setting('server_version') as version
    union all
    select extname, extversion from pg_extension where extname in ('vector', 'pg_search')
""")
_INDEX_HEALTH = text("""
    select index_name, method, is_whole, table_rows, missing_rows, size_bytes, segment_count, sentinel_written_at,
        exists (
            select from pg_stat_progress_create_index as p where p.index_relid = to_regclass('rag.' || index_name)
        ) as is_being_built
    from rag.index_health
    order by index_name
""")


async def check_database(settings: Settings, *, mend: bool = False) -> Iterable[Finding]:
    """Versions, schema, embedding model and indexes; starts the embedded server when it is stopped.

    Args:
        mend: build the indexes that are not whole, or not there, before looking at them.
    """
    dsn = await asyncio.to_thread(database_dsn, settings)
    engine = create_engine(dsn, settings.database, settings.search)
    try:
        with database_errors():
            async with engine.connect() as connection:
                findings = await _versions(connection, own=settings.database.url is not None)
                schema = await _schema(connection, settings)
                findings.append(schema)
                findings += await _vectors(connection, settings.embed) if schema.state is State.OK else []
            if schema.state is State.OK:
                # no snapshot is held meanwhile, a rebuild would wait for it
                findings += await _repairs(engine) if mend else []
                async with engine.connect() as connection:
                    findings += await _indexes(connection)
    finally:
        await engine.dispose()
    return findings


async def _versions(connection: AsyncConnection, *, own: bool) -> list[Finding]:
    found = {row.name: row.version for row in await connection.execute(_VERSIONS)}
    findings = []
    for name, oldest in _OLDEST.items():
        if name not in found:
            findings.append(await _missing(connection, name))
        elif _numbers(found[name]) < oldest:
            wanted = ".".join(map(str, oldest))
            findings.append(Finding(name, State.FAIL, f"{found[name]} is older than {wanted}", f"update {name}"))
        elif name == "vector" and own and _numbers(found[name]) < _VECTOR_WITHOUT_FAULTS:
            mend = "update pgvector, then `alter extension vector update`"
            findings.append(
                Finding(name, State.WARN, f"{found[name]}: inserts beside a vacuum can fail (mended in 0.8.4)", mend)
            )
        else:
            findings.append(Finding(name, State.OK, found[name]))
    return findings


async def _missing(connection: AsyncConnection, name: str) -> Finding:
    if await connection.run_sync(is_available, name):
        mend = "fuzi migrate (as a role that may create extensions)"
        return Finding(name, State.WARN, "the extension is not created in this database", mend)
    return Finding(name, State.FAIL, "this PostgreSQL server does not have it", INSTALL[name])


async def _schema(connection: AsyncConnection, settings: Settings) -> Finding:
    try:
        await check(connection, settings.embed)
    except NotMigrated as error:
        return Finding("schema", State.FAIL, error.message, "fuzi migrate")
    except FuziError as error:
        return Finding("schema", State.FAIL, error.message, next_step(error))
    revision = await connection.scalar(text("select version_num from rag.alembic_version"))
    embed = settings.embed
    model = f"{embed.provider} {embed.model}, {embed.dimension} dimensions"
    return Finding("schema", State.OK, f"revision {revision}, embedding model {model}")


async def _vectors(connection: AsyncConnection, embed: EmbedSettings) -> list[Finding]:
    """Nothing, unless the settings name another type than the stored vectors have."""
    stored = await stored_type(connection)
    if stored is None or not asks_for_another(embed, stored):
        return []
    said = f"stored as {stored} and used so; FUZI_EMBED__VECTOR_TYPE={embed.vector_type} holds for new databases"
    return [Finding("vectors", State.WARN, said, "`fuzi reembed` copies them into that type, no model is asked")]


async def _repairs(engine: AsyncEngine) -> list[Finding]:
    built = await build_left_behind(engine)
    findings = [Finding("repair", State.OK, f"{HNSW} built")] if built else []
    return findings + await _bm25_repairs(engine)


async def _bm25_repairs(engine: AsyncEngine) -> list[Finding]:
    repairs = await repair(engine, recount=True)
    if repairs is None:
        return [Finding("repair", State.WARN, "another process is rebuilding the BM25 indexes", "wait for its end")]
    return [
        Finding(
            "repair",
            State.OK if done.is_whole else State.FAIL,
            f"{done.index_name} {done.outcome}: {done.row_count:,} chunks in {done.seconds:.1f} s",
        )
        for done in repairs
    ]


async def _indexes(connection: AsyncConnection) -> list[Finding]:
    """One row an index: whether every chunk is in it, by its sentinel and by count."""
    return [_index(row) for row in await connection.execute(_INDEX_HEALTH)]


def _index(row: Row[Any]) -> Finding:
    if row.index_name == STAND_IN:
        said = "set aside by `fuzi import` until all documents are there; searches compare all vectors meanwhile"
        mend = "wait for the end of the import; was it broken off: fuzi import again, or fuzi doctor --repair"
        return Finding(HNSW, State.WARN, said, mend)
    if row.is_whole:
        segments = f", {row.segment_count} segments" if row.segment_count is not None else ""
        return Finding(row.index_name, State.OK, f"{row.table_rows:,} chunks, {row.size_bytes:,} bytes{segments}")
    if row.is_being_built:
        return Finding(row.index_name, State.WARN, "the index is being built", "wait for its end")
    if row.method != "bm25":
        reason = "the index is not valid: a build was broken off"
    elif row.sentinel_written_at is None:
        reason = "PostgreSQL crashed since the index was whole: searches by words may miss chunks"
    else:
        reason = f"{row.missing_rows:,} of {row.table_rows:,} chunks are missing"
    mend = f'psql "$(fuzi db url)" -c "reindex index concurrently rag.{row.index_name}"'
    return Finding(row.index_name, State.FAIL, reason, "fuzi doctor --repair" if row.method == "bm25" else mend)


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``17.9 (Debian …)`` is ``(17, 9)``."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split(maxsplit=1)[0]))
