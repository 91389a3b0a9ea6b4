"""A database beside the one in use, which takes its place in one transaction when it is complete."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from service.db.dump.session import administering
from service.db.engine import libpq_url
from service.errors import Conflict, DatabaseUnavailable, Misconfigured

_LOCK = "fuzi restore of %s"
_LONGEST_NAME = 63
_PAUSE_SECONDS = 0.1

# A locale may be written in columns of other names in every version.
_LOCALE = """
    select
        datcollate,
        datctype,
        to_jsonb(d) ->> 'datlocprovider' as provider,
        coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale') as locale
    from pg_database as d
    where datname = %s
"""
_SLOTS = "select slot_name from pg_replication_slots where database = %s limit 1"


class Replacement:
    """The new database; ``dsn`` is its URL until `take_place`."""

    def __init__(self, dsn: str, new: str, outdated: str) -> None:
        self._target = dsn
        self._name = _database(dsn)
        self._new, self._outdated = new, outdated
        self.dsn = libpq_url(dsn, database=new)

    async def take_place(self) -> None:
        """Give it the name of the old one, whose sessions are ended; the old one is dropped.

        Raises:
            Misconfigured: the old one belongs to another role; nothing was changed.
            DatabaseUnavailable: sessions of others, which may not be ended here, hold the old one; nothing was changed.
        """
        async with administering(self._target) as connection, administering(self._target) as other:
            ending = asyncio.create_task(self._end_sessions(other))
            try:
                # From the first statement on nobody can connect to the old one; it waits five seconds for sessions.
                async with connection.transaction():
                    await _execute(connection, "alter database {} rename to {}", self._name, self._outdated)
                    await _execute(connection, "alter database {} rename to {}", self._new, self._name)
            except psycopg.errors.ObjectInUse as error:
                raise DatabaseUnavailable(
                    f"the database {self._name} is in use by sessions that may not be ended here; nothing was changed"
                ) from error
            except psycopg.errors.InsufficientPrivilege as error:
                raise Misconfigured(
                    f"this role does not own the database {self._name}, so it may not replace it; nothing was changed"
                ) from error
            finally:
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
            await _drop(connection, self._outdated)

    async def _end_sessions(self, connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        while True:
            await connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = any (%s)",
                [[self._name, self._new]],
            )
            await asyncio.sleep(_PAUSE_SECONDS)


@asynccontextmanager
async def replacement(dsn: str) -> AsyncIterator[Replacement]:
    """Make an empty database beside ``dsn``; it is dropped when it has not taken its place at the end.

    A process that is killed leaves it behind; the next restore drops it.

    Raises:
        Conflict: another restore is at work, or a replica is fed by the database.
        Misconfigured: this role may not make databases.
    """
    name = _database(dsn)
    new, outdated = f"{name}_restoring", f"{name}_replaced"
    if len(outdated.encode()) > _LONGEST_NAME:
        raise Misconfigured(f"the name of the database {name} is too long: restore into an empty database instead")
    async with administering(dsn) as connection:
        taken = await connection.execute("select pg_try_advisory_lock(hashtextextended(%s, 0))", [_LOCK % name])
        if (await taken.fetchone()) != (True,):
            raise Conflict(f"another restore of the database {name} is at work")
        if await (await connection.execute(_SLOTS, [name])).fetchone():
            raise Conflict(
                f"a replica is fed by the database {name}, which cannot be replaced meanwhile: `fuzi replica drop`, "
                "then restore, then `fuzi replica init`"
            )
        try:
            for left in (new, outdated):
                await _drop(connection, left)
            await _create(connection, new, like=name)
        except psycopg.errors.InsufficientPrivilege as error:
            raise Misconfigured(
                f"to replace a database the role needs the right to make one ({error.diag.message_primary}): let an "
                f"administrator run `alter role … createdb`, or restore into an empty database and name that one in "
                "FUZI_DATABASE__URL"
            ) from error
        try:
            yield Replacement(dsn, new, outdated)
        finally:
            await _drop(connection, new)


async def _create(connection: psycopg.AsyncConnection[tuple[object, ...]], name: str, *, like: str) -> None:
    row = await (await connection.execute(_LOCALE, [like])).fetchone()
    assert row is not None  # noqa: S101 - we have just been connected to it
    collate, ctype, provider, locale = map(_text, row)
    options = sql.SQL("create database {} template template0 encoding 'UTF8' lc_collate {} lc_ctype {}").format(
        sql.Identifier(name), sql.Literal(collate), sql.Literal(ctype)
    )
    kinds = {"i": ("icu", "icu_locale"), "b": ("builtin", "builtin_locale")}
    if provider in kinds and locale:
        kind, option = kinds[provider]
        options += sql.SQL(" locale_provider {} {} {}").format(sql.SQL(kind), sql.SQL(option), sql.Literal(locale))
    await connection.execute(options)


async def _drop(connection: psycopg.AsyncConnection[tuple[object, ...]], name: str) -> None:
    await _execute(connection, "drop database if exists {} with (force)", name)


async def _execute(connection: psycopg.AsyncConnection[tuple[object, ...]], statement: str, *names: str) -> None:
    await connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _database(dsn: str) -> str:
    name = make_url(dsn).database
    if not name:
        raise Misconfigured("the database URL names no database")
    return name


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode()
    return None if value is None else str(value)
