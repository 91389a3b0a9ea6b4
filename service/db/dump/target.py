"""The database that a backup is restored into: what is there, and making it ready."""

from __future__ import annotations

import asyncio
from enum import StrEnum

import psycopg
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.dump.programs import APPLICATION
from service.db.extensions import ensure_extensions
from service.db.sql_files import shipped_folder
from service.errors import DatabaseUnavailable, Misconfigured
from service.types import JsonObject

SCHEMAS = ("rag", "queue", "analytics")
_TOUCHED = ("rag.collection", "rag.document", "rag.job", "rag.embedding_cache", "rag.search_log", "rag.api_key")

_OCCUPIED = text("""
    select exists (select from pg_class where relnamespace in (to_regnamespace('rag'), to_regnamespace('queue')))
""")

# What it does to the database beside its note is not in the backup.
_GRANT_AGAIN = b"""
do $$
begin
    perform rag.grant_collection(r.rolname, c.name)
    from rag.analyst_collection as a
    join rag.collection as c on c.id = a.collection_id
    join pg_catalog.pg_roles as r on r.rolname = a.role_name
    where not rag.sees_every_collection(r.rolname);
exception
    when insufficient_privilege or undefined_object then
        raise notice '%', sqlerrm;
end;
$$
"""

_ORPHANS = text("""
    select pid, pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name = :name
""")
_ORPHAN_TRIES, _PAUSE_SECONDS = 100, 0.1


class Content(StrEnum):
    """What is in a database."""

    NOTHING = "nothing"
    NOTHING_KEPT = "tables without rows, or a restore that was broken off"
    DATA = "data"


async def content_of(connection: AsyncConnection) -> Content:
    """What is in a database; a schema ``rag`` or ``queue`` of somebody else counts as data."""
    if not await connection.scalar(_OCCUPIED):
        return Content.NOTHING
    if not await connection.scalar(text("select to_regclass('rag.alembic_version') is not null")):
        return Content.DATA
    if await connection.scalar(text("select not exists (select from rag.alembic_version)")):
        return Content.NOTHING_KEPT
    for table in _TOUCHED:
        exists = await connection.scalar(text("select to_regclass(:table) is not null"), {"table": table})
        statement = text(f"select exists (select from {table})")  # noqa: S608 - constants of this file
        if exists and await connection.scalar(statement):
            return Content.DATA
    return Content.NOTHING_KEPT


def knows_revision(revision: str) -> bool:
    """Whether this code can bring a schema of that revision to its own."""
    known = ScriptDirectory(str(shipped_folder("migrations"))).walk_revisions()
    return revision in {script.revision for script in known}


async def server_major(connection: AsyncConnection) -> int:
    """Major version of the server."""
    number = await connection.scalar(text("select current_setting('server_version_num')"))
    return int(number or 0) // 10_000


async def make_ready(connection: AsyncConnection, facts: JsonObject) -> None:
    """Make extensions and empty schemas; tables without any row go away, as does what a killed restore left.

    Raises:
        DatabaseUnavailable: the programs of a killed restore do not end.
        Misconfigured: that is not allowed here, or an extension lies in another schema than in the backup.
    """
    await _end_orphans(connection)
    if await content_of(connection) is Content.NOTHING_KEPT:
        await connection.execute(text("drop schema if exists rag cascade"))
        await connection.execute(text("drop schema if exists queue cascade"))
    await connection.run_sync(_extensions)
    for name, extension in facts["extensions"].items():
        here = await connection.scalar(
            text("select extnamespace::regnamespace::text from pg_extension where extname = :name"), {"name": name}
        )
        if here != extension["schema"]:
            raise Misconfigured(
                f"the extension {name} is in schema {here} here, in the backup in {extension['schema']}: "
                f"`alter extension {name} set schema {extension['schema']};`, then try again"
            )
    for schema in SCHEMAS:
        # not `if not exists`, which asks for the right to create even when there is nothing to do
        if await connection.scalar(text("select to_regnamespace(:schema) is null"), {"schema": schema}):
            await connection.execute(text(f"create schema {schema}"))


async def is_superuser(connection: AsyncConnection) -> bool:
    """Whether this role may do everything, make databases with extensions in them for one."""
    return await connection.scalar(text("select rolsuper from pg_roles where rolname = current_user")) is True


async def make_functions(connection: AsyncConnection, script: bytes) -> None:
    """Make the functions, in the caller's transaction."""
    await _run_script(connection, script)


async def finish(connection: AsyncConnection, facts: JsonObject) -> None:
    """Write the revision, in the caller's transaction: from then on it is a database of ours."""
    revision = {"revision": facts["alembic_revision"]}
    await connection.execute(text("insert into rag.alembic_version (version_num) values (:revision)"), revision)


async def let_analysts_in(connection: AsyncConnection) -> None:
    """Make the analysts' roles on this server, with their rights, when the backup has their views."""
    if await connection.scalar(text("select to_regclass('rag.index_health') is not null")):
        await _run_script(connection, (shipped_folder("sql") / "grants" / "rag_analyst.v1.sql").read_bytes())
    if await connection.scalar(text("select to_regclass('rag.analyst_collection') is not null")):
        file = shipped_folder("sql") / "grants" / "rag_collection_analyst.v1.sql"
        await _run_script(connection, file.read_bytes())
        await _run_script(connection, _GRANT_AGAIN)


async def _end_orphans(connection: AsyncConnection) -> None:
    """End programs that outlived a killed restore: whoever restores now is the only one (`keep_originals`)."""
    for _ in range(_ORPHAN_TRIES):
        if not (await connection.execute(_ORPHANS, {"name": APPLICATION})).all():
            return
        await connection.commit()  # what sessions do is looked at once a transaction
        await asyncio.sleep(_PAUSE_SECONDS)
    raise DatabaseUnavailable("a restore that was killed is still at work in this database; try again")


async def _run_script(connection: AsyncConnection, statements: bytes) -> None:
    driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, psycopg.AsyncConnection)  # noqa: S101 - the engine is always psycopg's
    # straight to the driver: no parameters, so no character has a second meaning
    await driver.execute(statements)


def _extensions(connection: Connection) -> None:
    try:
        ensure_extensions(connection)
    except DBAPIError as error:
        raise Misconfigured(f"the extensions cannot be made here: {error.orig}") from error
