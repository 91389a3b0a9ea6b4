"""A database of its own for each data set, beside the configured one: what users stored is neither read nor ranked.

One set a database, and in it one way of cutting it, since BM25 weighs words over everything in the index: a second
set would change the figures of the first.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import OriginalsSettings, Settings
from service.db.engine import database_errors, driver_url, libpq_url
from service.errors import Conflict, Misconfigured
from service.evaluate.read.records import DataSet
from service.split import SPLITTER_VERSION, settings_hash
from service.wiring import Services, database_dsn, open_services

_LONGEST_NAME = 63  # of PostgreSQL, in bytes
_LOCK = 0x6576616C  # "eval"
_OURS = re.compile(r"evaluation [0-9a-f]{16}")
_FOREIGN = text("select name from rag.collection where name !~ :ours order by name limit 1")


def collection_name(data_set: DataSet, settings: Settings) -> str:
    """Collection of a data set, by everything that decides how its chunks and their vectors come out."""
    facts = [
        data_set.corpus_sha256,
        settings_hash(settings.split),
        SPLITTER_VERSION,
        settings.embed.heading_context,
    ]
    return f"evaluation {hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]}"


def database_name(configured: str, data_set_folder: Path, settings: Settings) -> str:
    """Name of the evaluation database of a data set and an embedding model: ``<configured>_evaluation_<hash>``."""
    embed = settings.embed
    facts = [str(data_set_folder.resolve()), embed.provider, embed.model, embed.dimension]
    facts += [] if embed.vector_type == "auto" else [embed.vector_type]
    ending = f"_evaluation_{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]}"
    beginning = configured.encode()[: _LONGEST_NAME - len(ending)].decode(errors="ignore")
    return beginning + ending


async def evaluation_dsn(settings: Settings, data_set_folder: Path, given: str | None) -> str:
    """URL of the evaluation database, which is created when it is not there.

    Args:
        given: a database to take instead; it must exist and be empty, or one of an earlier evaluation.

    Raises:
        Misconfigured: the role may not create databases.
        DatabaseUnavailable: the server does not answer.
    """
    if given is not None:
        driver_url(given)  # a complaint when it is no PostgreSQL URL
        return given
    configured = await asyncio.to_thread(database_dsn, settings)
    name = database_name(_name_in(configured), data_set_folder, settings)
    await asyncio.to_thread(_create, configured, name)
    return libpq_url(configured, database=name)


async def drop_database(settings: Settings, data_set_folder: Path) -> bool:
    """Drop the evaluation database of a data set; False when there was none."""
    configured = await asyncio.to_thread(database_dsn, settings)
    name = database_name(_name_in(configured), data_set_folder, settings)
    return await asyncio.to_thread(_drop, configured, name)


@asynccontextmanager
async def open_evaluation(settings: Settings, dsn: str) -> AsyncIterator[Services]:
    """Open the evaluation database, migrated; searches are not logged and originals lie apart from the users'.

    Raises:
        Misconfigured: the database holds something else than an evaluation, so it is not ours to empty.
        Conflict: another evaluation uses it.
    """
    search = settings.search.model_copy(update={"log_share": 0.0})
    jobs = settings.jobs.model_copy(update={"concurrency": 1, "inside_serve": False})
    limits = settings.limits.model_copy(update={"large_file_mb": settings.limits.max_upload_mb})
    own = settings.model_copy(
        update={
            "home": settings.home / "evaluations" / "originals" / hashlib.sha256(dsn.encode()).hexdigest()[:8],
            "database": settings.database.model_copy(update={"url": SecretStr(dsn)}),
            # the sweep for orphans must never see the originals of the users' documents
            "originals": OriginalsSettings(),
            "search": search,
            # one document after the other: equal scores are ordered by the ids, which come in this order
            "jobs": jobs,
            "limits": limits,
        }
    )
    async with open_services(own, migrate=True) as services, _alone(dsn):
        await _must_be_ours(services.engine)
        yield services


async def empty(engine: AsyncEngine) -> None:
    """Take all documents out of an evaluation database; the embedding cache stays."""
    async with engine.begin() as connection:
        # not row by row: BM25 would weigh words of deleted rows until they are merged away
        await connection.execute(text("truncate rag.collection, rag.document restart identity cascade"))


@asynccontextmanager
async def _alone(dsn: str) -> AsyncIterator[None]:
    """Keep other evaluations away, which might empty the database meanwhile; a killed process holds nothing."""
    connection = await psycopg.AsyncConnection.connect(libpq_url(dsn), autocommit=True)
    async with connection:
        row = await (await connection.execute("select pg_try_advisory_lock(%s)", [_LOCK])).fetchone()
        if row is None or not row[0]:
            raise Conflict("another `fuzi evaluate` or `fuzi tune` uses the database of this data set; wait for it")
        yield


async def _must_be_ours(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        foreign = await connection.scalar(_FOREIGN, {"ours": f"^{_OURS.pattern}$"})
    if foreign is not None:
        raise Misconfigured(
            f"the database holds a collection {foreign!r} that is not of an evaluation, and an evaluation empties its "
            "database: name one that is empty (`--database URL`)"
        )


def _create(configured: str, name: str) -> None:
    with database_errors(), psycopg.connect(libpq_url(configured), autocommit=True) as connection:
        if connection.execute("select from pg_database where datname = %s", [name]).fetchone() is not None:
            return
        try:
            connection.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
        except psycopg.errors.DuplicateDatabase:  # another evaluation was faster
            return
        except psycopg.errors.InsufficientPrivilege as error:
            raise Misconfigured(
                f"the role {connection.info.user} may not create the database {name} for the evaluation: let it "
                "(`alter role … createdb`), or name an empty database with the extensions vector and pg_search "
                "by `--database URL`"
            ) from error


def _drop(configured: str, name: str) -> bool:
    with database_errors(), psycopg.connect(libpq_url(configured), autocommit=True) as connection:
        if connection.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
            return False
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
        return True


def _name_in(dsn: str) -> str:
    name = driver_url(dsn).database
    if not name:
        raise Misconfigured("the database URL names no database; it looks like postgresql://user:password@host/db")
    return name
