"""One moment of the database: what it holds, and which originals it refers to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.dump.session import unhurried
from service.db.keep_originals import keep_originals
from service.errors import NotMigrated
from service.types import EmbeddingModel, JsonObject

_COUNTS = text("""
    select
        (select count(*) from rag.collection) as collections,
        (select count(*) from rag.document) as documents,
        (select count(*) from rag.parent_chunk) as parent_chunks,
        (select count(*) from rag.child_chunk) as child_chunks,
        (select count(*) from rag.job) as jobs
""")
# The newest note of a key wins: a failed document has the original of its last job.
_ORIGINALS = text("""
    select key, max(encode(sha256, 'hex')) as sha256
    from (
        select object_key as key, sha256 from rag.document
        union
        select object_key, sha256 from rag.job where finished_at is null or status = 'failed'
        union
        select d.pending_key, j.sha256
        from rag.document as d
        left join rag.job as j on j.document_id = d.id and j.object_key = d.pending_key
    ) as referred
    where key is not null
    group by key
    order by key
""")
_EXTENSIONS = text("""
    select e.extname, e.extversion, n.nspname
    from pg_extension as e
    join pg_namespace as n on n.oid = e.extnamespace
    where e.extname in ('vector', 'pg_search')
    order by e.extname
""")
_MODEL = text("select provider, name, dimension from rag.embedding_model where active")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that other sessions can read as long as its own is open.

    ``originals`` has the SHA-256 that the database knows of each original it refers to, by key.
    """

    id: str
    server_major: int
    facts: JsonObject
    originals: Mapping[str, str]


@asynccontextmanager
async def open_snapshot(dsn: str) -> AsyncIterator[Snapshot]:
    """Hold a snapshot, and keep every original it refers to, while the block runs.

    Raises:
        Conflict: another backup is at work.
        NotMigrated: the database has no schema of ours.
    """
    async with unhurried(dsn, "REPEATABLE READ") as connection:
        await keep_originals(connection)
        await connection.commit()
        await connection.execute(text("set transaction read only"))
        exported = await connection.scalar(text("select pg_export_snapshot()"))
        facts = await describe(connection)
        originals = {row.key: row.sha256 for row in await connection.execute(_ORIGINALS)}
        yield Snapshot(str(exported), facts["postgresql"]["major"], facts, originals)


async def describe(connection: AsyncConnection) -> dict[str, Any]:
    """Revision, versions, model and counts of a database, as the manifest of a backup has them.

    Raises:
        NotMigrated: it has no schema of ours, or one from before jobs.
    """
    if not await connection.scalar(text("select to_regclass('rag.job') is not null")):
        raise NotMigrated("the database has no schema of Fuzi, or one that is too old; run `fuzi migrate`")
    number = int(await connection.scalar(text("select current_setting('server_version_num')")) or 0)
    extensions = {
        row.extname: {"version": row.extversion, "schema": row.nspname} for row in await connection.execute(_EXTENSIONS)
    }
    return {
        "alembic_revision": await connection.scalar(text("select version_num from rag.alembic_version")),
        "postgresql": {
            "version": await connection.scalar(text("select current_setting('server_version')")),
            "major": number // 10_000,
        },
        "extensions": extensions,
        "embedding_model": asdict(await active_model(connection)),
        "counts": await count(connection),
    }


async def active_model(connection: AsyncConnection) -> EmbeddingModel:
    """The model of the served vectors; asked so that a schema older than this code is understood too.

    Raises:
        NotMigrated: the database names none.
    """
    row = (await connection.execute(_MODEL)).one_or_none()
    if row is None:
        raise NotMigrated("the database names no active embedding model; run `fuzi migrate`")
    return EmbeddingModel(row.provider, row.name, row.dimension)


async def count(connection: AsyncConnection) -> dict[str, int]:
    """Rows by kind."""
    return dict((await connection.execute(_COUNTS)).one()._mapping)
