"""One query in a transaction that reads only, by the login of an analyst."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import psycopg

from service.db.analysts.login import ROLE
from service.db.engine import database_errors, libpq_url
from service.errors import InvalidInput, Misconfigured

_CONNECT_SECONDS = 10
# as the role's own login has them, see sql/grants
_SETTINGS = {
    "max_parallel_workers_per_gather": "0",
    "hnsw.ef_search": "400",
    "hnsw.iterative_scan": "relaxed_order",
}
_VIEWS = """
    select n.nspname || '.' || c.relname as name, obj_description(c.oid, 'pg_class') as shows
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname in ('analytics', 'rag')
        and c.relkind = 'v'
        and has_table_privilege(c.oid, 'select')
    order by n.nspname, c.relname
"""
_OF_THE_QUERY = ("54", "55")
"""Classes of SQLSTATE: program limit exceeded, object not in prerequisite state."""
_NO_ROWS = "this is no query that answers with rows: `fuzi sql` reads, it sets and changes nothing"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer, and the name of its type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Rows:
    """An answer [row_count, column_count]; ``has_more`` says that it was cut."""

    columns: Sequence[Column]
    rows: Sequence[tuple[Any, ...]]
    has_more: bool


def ask_as_analyst(dsn: str, query: str, *, most: int | None, seconds: float) -> Rows:
    """Run one query as an analyst.

    Args:
        dsn: URL of an analyst's login, such as `service.db.analysts.login.analyst_login` makes.
        most: rows to return; None is all of them.
        seconds: how long it may take.

    Raises:
        InvalidInput: it is no query, would write, is not allowed, or takes too long; the message says which.
        Misconfigured: the server does not let the login in.
        DatabaseUnavailable: the server does not answer.
    """
    with _reading(dsn, seconds) as connection, _complaints(seconds), connection.cursor() as cursor:
        # streamed, so that no more is fetched than shown; by a protocol that takes one statement and no more
        answer = cursor.stream(query.encode())
        rows = list(islice(answer, None if most is None else most + 1))
        columns = [_column(connection, *each[:2]) for each in cursor.description or _described(connection, query)]
        if isinstance(answer, Generator):
            answer.close()
        shown = rows if most is None else rows[:most]
        return Rows(columns, shown, len(shown) < len(rows))


def list_views(dsn: str) -> list[tuple[str, str]]:
    """Names of all views that analysts read, with what they show; those of ``analytics`` come first.

    Raises:
        Misconfigured, DatabaseUnavailable: see `ask_as_analyst`.
    """
    with _reading(dsn, 60) as connection:
        return [(name, shows or "") for name, shows in connection.execute(_VIEWS)]


@contextmanager
def _reading(dsn: str, seconds: float) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    settings = {**_SETTINGS, "statement_timeout": f"{max(1, round(seconds * 1000))}ms"}
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    with database_errors(), _let_in():
        connection = psycopg.connect(
            libpq_url(dsn), options=options, application_name="fuzi sql", connect_timeout=_CONNECT_SECONDS
        )
    with database_errors(), connection:
        connection.read_only = True
        yield connection
        connection.rollback()


@contextmanager
def _let_in() -> Iterator[None]:
    try:
        yield
    except psycopg.OperationalError as error:
        # libpq gives no SQLSTATE for a connection that did not come about
        if "authentication" not in str(error) and "pg_hba.conf" not in str(error):
            raise
        raise Misconfigured(
            "the server does not let the login of the query in (pg_hba.conf, or a pooler that knows its own logins "
            f"only): let an administrator run `create role analyst login password '…' in role {ROLE};` and set "
            "FUZI_DATABASE__ANALYST_URL to its URL"
        ) from error


@contextmanager
def _complaints(seconds: float) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise InvalidInput(
            f"the query took longer than {seconds:g} seconds: narrow it down, or allow more by --timeout"
        ) from error
    except (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.InsufficientPrivilege) as error:
        raise InvalidInput(f"analysts read, and not everything: {_told(error)}") from error
    except psycopg.ProgrammingError as error:
        raise InvalidInput(_told(error) if error.sqlstate else _NO_ROWS) from error
    except psycopg.OperationalError as error:
        # psycopg's name for more than a server that is away: what a query asks too much of, or out of place
        if (error.sqlstate or "")[:2] not in _OF_THE_QUERY:
            raise
        raise InvalidInput(_told(error)) from error
    except (psycopg.DataError, psycopg.InternalError, psycopg.NotSupportedError, psycopg.IntegrityError) as error:
        raise InvalidInput(_told(error)) from error


def _told(error: psycopg.Error) -> str:
    """What PostgreSQL says, with its hint and the place."""
    said = error.diag
    parts = [said.message_primary or str(error), said.message_hint]
    if said.statement_position:
        parts.append(f"at character {said.statement_position} of the query")
    return "; ".join(part for part in parts if part)


def _described(connection: psycopg.Connection[tuple[Any, ...]], query: str) -> list[tuple[str, int]]:
    """Names and types of the columns of an answer without rows, of which a stream says nothing."""
    connection.pgconn.prepare(b"", query.encode())
    found = connection.pgconn.describe_prepared(b"")
    return [((found.fname(place) or b"").decode(), found.ftype(place)) for place in range(found.nfields)]


def _column(connection: psycopg.Connection[tuple[Any, ...]], name: str, type_code: int) -> Column:
    known = connection.adapters.types.get(type_code)
    return Column(name, known.name if known else str(type_code))
