"""A login for one query: a member of the analysts' role and nothing else, gone when the query is over.

``set role`` in a session of the owner's would not do: a query can take that back (``select set_config('role', 'none',
true)``), and then is the owner's. A session of a login of its own has no way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex, token_urlsafe
from typing import Any

import psycopg
from psycopg import sql

from service.db.engine import database_errors, driver_url, libpq_url
from service.errors import Misconfigured

ROLE = "rag_analyst"

_PREFIX = "fuzi_sql_"
_GRACE_SECONDS = 60
_KNOWN = "select exists (select from pg_catalog.pg_roles where rolname = %s)"
# left by calls that were killed; nobody can log in as them any more
_LEFT_BEHIND = "select rolname from pg_catalog.pg_roles where rolname ~ %s and rolvaliduntil < now()"
_UNTIL = "select (now() + make_interval(secs => %s))::text"


@contextmanager
def analyst_login(dsn: str, seconds: float) -> Iterator[str]:
    """URL of a login that reads what analysts read, made for the length of the block.

    Args:
        dsn: URL of a login that may make others: the owner of an embedded server, for one.
        seconds: how long it will be used; a little later it is of no use to anybody.

    Raises:
        Misconfigured: there is no analysts' role, or the login may not make such a login; the message says what may.
        DatabaseUnavailable: the server does not answer.
    """
    name, password = f"{_PREFIX}{token_hex(8)}", token_urlsafe(24)
    with _connected(dsn) as owner:
        _sweep(owner)
        _make(owner, name, password, seconds)
    try:
        url = driver_url(dsn).set(drivername="postgresql", username=name, password=password)
        yield url.render_as_string(hide_password=False)
    finally:
        # one that cannot be dropped now is swept later, and cannot be used meanwhile
        with suppress(Exception), _connected(dsn) as owner:
            _drop(owner, name)


def _make(owner: psycopg.Connection[Any], name: str, password: str, seconds: float) -> None:
    if not _scalar(owner, _KNOWN, ROLE):
        raise Misconfigured(
            f"there is no role {ROLE}: let an administrator run `create role {ROLE} nologin;` and the newest "
            "sql/grants/rag_analyst"
        )
    # hashed here, so that no log of statements has it
    secret = owner.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()
    statement = sql.SQL(
        "create role {name} login password {secret} valid until {until} connection limit 1 in role {analysts}"
    )
    try:
        owner.execute(
            statement.format(
                name=sql.Identifier(name),
                secret=sql.Literal(secret),
                until=sql.Literal(_scalar(owner, _UNTIL, seconds + _GRACE_SECONDS)),
                analysts=sql.Identifier(ROLE),
            )
        )
    except psycopg.errors.InsufficientPrivilege as error:
        raise Misconfigured(
            f"the login {owner.info.user} may not make a login for the query: let an administrator run "
            f"`create role analyst login password '…' in role {ROLE};` and set FUZI_DATABASE__ANALYST_URL to its URL"
        ) from error


def _sweep(owner: psycopg.Connection[Any]) -> None:
    for (name,) in owner.execute(_LEFT_BEHIND, [f"^{_PREFIX}[0-9a-f]{{16}}$"]).fetchall():
        with suppress(psycopg.errors.Error):
            _drop(owner, name)


def _drop(owner: psycopg.Connection[Any], name: str) -> None:
    owner.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(name)))


def _scalar(connection: psycopg.Connection[Any], query: str, value: object) -> Any:
    row = connection.execute(query.encode(), [value]).fetchone()
    assert row is not None  # noqa: S101 - these queries have one row
    return row[0]


@contextmanager
def _connected(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with database_errors(), psycopg.connect(libpq_url(dsn), autocommit=True, connect_timeout=10) as connection:
        yield connection
