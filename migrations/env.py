"""Runs migrations on the connection that `service.db.migrate` passes in.

The `alembic` command passes none: then it is the database of `FUZI_DATABASE__URL`, else that of the embedded server.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from alembic import context, op
from alembic.runtime.migration import MigrationInfo
from pgvector.sqlalchemy import HALFVEC, VECTOR
from sqlalchemy import Connection, MetaData, text

from service import db
from service.config import Settings
from service.db.embedded import EmbeddedServer
from service.db.extensions import find_vector_type
from service.db.migrate import migration_connection, note_oldest_code
from service.db.models import SCHEMA, SEARCH_INDEXES, Model
from service.db.spaces import STANDBY_COLUMN
from service.db.spaces.vector_type import settle_type
from service.errors import Misconfigured


@contextmanager
def _own_connection(settings: Settings) -> Iterator[Connection]:
    if settings.database.url is not None:
        dsn = settings.database.url.get_secret_value()
    else:
        dsn = EmbeddedServer(settings.home, settings.database.embedded_port).start().nearest_dsn
    with migration_connection(dsn) as connection:
        yield connection


def _all_tables() -> MetaData:
    for module in iter_modules(db.__path__):
        if module.name.endswith("models"):
            import_module(f"service.db.{module.name}")
    return Model.metadata


def _include_name(name: str | None, kind: str, _parents: Any) -> bool:
    return kind != "schema" or name == SCHEMA


def _include_object(_object: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:
    if kind == "index":
        return name is None or not (name in SEARCH_INDEXES or STANDBY_COLUMN in name)
    return not (kind == "column" and name == STANDBY_COLUMN)


def _compare_type(_context: Any, _column: Any, _other: Any, inspected: Any, _described: Any) -> bool | None:
    """Dimension and width of vectors are data, they belong to the embedding model."""
    return False if isinstance(inspected, VECTOR | HALFVEC) else None


def _type_the_vectors(*, step: MigrationInfo, **_others: Any) -> None:
    """Give a new database the type of the settings while nothing is bound to the column: 0001 goes by the dimension."""
    if step.is_upgrade and step.up_revision_id == "0001":
        settle_type(op.get_bind(), context.config.attributes["settings"].embed)


def _run(connection: Connection, settings: Settings) -> None:
    # not `if not exists`, which asks for the right to create even when there is nothing to do
    if connection.execute(text("select to_regnamespace(:schema) is null"), {"schema": SCHEMA}).scalar_one():
        connection.execute(text(f"create schema {SCHEMA}"))
    find_vector_type(connection)
    context.config.attributes["settings"] = settings
    context.configure(
        connection=connection,
        target_metadata=_all_tables(),
        version_table_schema=SCHEMA,
        include_schemas=True,
        include_name=_include_name,
        include_object=_include_object,
        compare_server_default=True,
        compare_type=_compare_type,
        on_version_apply=_type_the_vectors,  # type: ignore[arg-type]  # alembic passes all by name
    )
    with context.begin_transaction():
        context.run_migrations()
        note_oldest_code(connection)


def _main() -> None:
    if context.is_offline_mode():
        raise Misconfigured("migrations look at the database, so they cannot be written out as a script (--sql)")
    settings = context.config.attributes.get("settings") or Settings()
    given = context.config.attributes.get("connection")
    if given is not None:
        _run(given, settings)
        return
    with _own_connection(settings) as connection:
        _run(connection, settings)


_main()
