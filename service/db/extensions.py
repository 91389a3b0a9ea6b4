"""The two extensions that the schema stands on."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from service.errors import Misconfigured

EXTENSIONS = ("vector", "pg_search")
INSTALL = {
    "vector": "install pgvector 0.8 or newer on it (Debian: postgresql-<version>-pgvector)",
    "pg_search": "install ParadeDB's pg_search on it, or use the image paradedb/paradedb (before PostgreSQL 17 it also "
    "needs `shared_preload_libraries = 'pg_search'`)",
}


def ensure_extensions(connection: Connection) -> None:
    """Create the extensions that are missing; their rights are not needed when an administrator did it before.

    Raises:
        Misconfigured: one is missing and cannot be created here; the message has the statement to run, or says what to
            install when the server does not have it.
            Or the database is not in UTF-8, which Chinese text and the normalising of words need.
    """
    encoding = connection.execute(text("show server_encoding")).scalar_one()
    if encoding != "UTF8":
        raise Misconfigured(f"the database is encoded in {encoding}; create it with `encoding 'UTF8'`")
    existing = set(connection.execute(text("select extname from pg_extension")).scalars())
    for extension in EXTENSIONS:
        if extension in existing:
            continue
        if not is_available(connection, extension):
            raise Misconfigured(f"this PostgreSQL server has no {extension}: {INSTALL[extension]}", extension=extension)
        try:
            with connection.begin_nested():
                # a constant of this file; DDL takes no parameters
                connection.execute(text(f"create extension {extension}"))
        except DBAPIError as error:
            raise Misconfigured(
                f"the database has no extension {extension} and it cannot be created here ({_reason(error)}); "
                f"let an administrator run `create extension {extension};` in this database, then try again",
                extension=extension,
            ) from error
    find_vector_type(connection)


def is_available(connection: Connection, extension: str) -> bool:
    """Whether the server has the files of an extension, so that it can be created."""
    query = text("select exists (select from pg_available_extensions where name = :name)")
    return bool(connection.execute(query, {"name": extension}).scalar_one())


def find_vector_type(connection: Connection) -> None:
    """Let the rest of the transaction find pgvector's types, wherever an administrator put the extension."""
    connection.execute(
        text("""
            select set_config('search_path', current_setting('search_path') || ', ' || quote_ident(n.nspname), true)
            from pg_extension as e
            join pg_namespace as n on n.oid = e.extnamespace
            where e.extname = 'vector' and n.nspname <> all (current_schemas(true))
        """)
    )


def _reason(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]
