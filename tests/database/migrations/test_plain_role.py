"""A role without any special right can migrate, when an administrator has made the extensions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from service.config import Settings
from service.db.migrate import upgrade
from service.errors import Misconfigured
from tests.database.chunk_rows import Child, collection, document, search_connection, unit_vector

_SETTINGS = Settings(_env_file=None)


@dataclass(frozen=True, slots=True)
class PlainRole:
    """A role that owns a database and nothing else; ``dsn`` logs in as it, ``admin_dsn`` as the superuser."""

    name: str
    dsn: str
    admin_dsn: str

    def administer(self, *statements: str) -> None:
        """Run statements as the superuser."""
        with psycopg.connect(self.admin_dsn, autocommit=True) as connection:
            for statement in statements:
                connection.execute(sql.SQL(statement).format(role=sql.Identifier(self.name)))


@pytest.fixture
def plain(empty_database: str) -> Iterator[PlainRole]:
    """A login without rights that owns nothing but the (empty) database."""
    name = f"plain_{uuid4().hex[:12]}"
    with psycopg.connect(empty_database, autocommit=True) as connection:
        database = connection.info.dbname
        connection.execute(sql.SQL("create role {} login password 'plain'").format(sql.Identifier(name)))
        connection.execute(
            sql.SQL("alter database {} owner to {}").format(sql.Identifier(database), sql.Identifier(name))
        )
    dsn = make_url(empty_database).set(username=name, password="plain").render_as_string(hide_password=False)
    yield PlainRole(name, dsn, empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(sql.SQL("reassign owned by {} to current_user").format(sql.Identifier(name)))
        connection.execute(sql.SQL("drop owned by {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.mark.case("BR-077")
def test_existing_extensions_are_enough(plain: PlainRole) -> None:
    plain.administer("create extension vector", "create extension pg_search")
    upgrade(plain.dsn, _SETTINGS)
    upgrade(plain.dsn, _SETTINGS)
    with search_connection(plain.dsn) as connection:
        written = document(connection, collection(connection, "c"), "s", [[Child("合同解除", unit_vector(0))]])
        found = connection.execute("select child_id from rag.hybrid_search('合同', %s)", [unit_vector(1)]).fetchall()
    assert found == [written.child_ids[0]]


@pytest.mark.case("BR-077")
@pytest.mark.parametrize(
    ("present", "missing"), [((), "vector"), (("vector",), "pg_search"), (("pg_search",), "vector")]
)
def test_a_missing_extension_stops_before_any_table(plain: PlainRole, present: tuple[str, ...], missing: str) -> None:
    plain.administer(*(f"create extension {name}" for name in present))
    with pytest.raises(Misconfigured, match=f"`create extension {missing};`") as caught:
        upgrade(plain.dsn, _SETTINGS)
    assert caught.value.details == {"extension": missing}
    with psycopg.connect(plain.dsn) as connection:
        tables = connection.execute(
            "select count(*) from pg_tables where schemaname not in ('pg_catalog', 'information_schema', 'paradedb')"
        ).fetchone()
        assert tables == (0,)
    plain.administer(*(f"create extension if not exists {name}" for name in ("vector", "pg_search")))
    upgrade(plain.dsn, _SETTINGS)


def test_schemas_made_by_an_administrator_are_used(plain: PlainRole, empty_database: str) -> None:
    plain.administer("create extension vector", "create extension pg_search")
    plain.administer("create schema rag authorization {role}", "create schema queue authorization {role}")
    plain.administer("create schema analytics authorization {role}")
    with psycopg.connect(empty_database, autocommit=True) as connection:
        owner = sql.Identifier(connection.info.user)
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("alter database {} owner to {}").format(name, owner))
    upgrade(plain.dsn, _SETTINGS)


def test_a_schema_that_may_not_be_made_is_asked_for(plain: PlainRole, empty_database: str) -> None:
    plain.administer("create extension vector", "create extension pg_search")
    plain.administer("create schema rag authorization {role}", "create schema queue authorization {role}")
    with psycopg.connect(empty_database, autocommit=True) as connection:
        owner = sql.Identifier(connection.info.user)
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("alter database {} owner to {}").format(name, owner))
    with pytest.raises(Misconfigured, match=f"`create schema analytics authorization {plain.name};`"):
        upgrade(plain.dsn, _SETTINGS)


def test_the_extension_may_live_in_a_schema_of_its_own(plain: PlainRole) -> None:
    plain.administer(
        "create schema extensions",
        "create extension vector schema extensions",
        "create extension pg_search",
        "grant usage on schema extensions to {role}",
    )
    upgrade(plain.dsn, _SETTINGS)
    with psycopg.connect(plain.dsn) as connection:
        kind = connection.execute(
            "select atttypid::regtype::text from pg_attribute"
            " where attrelid = 'rag.child_chunk'::regclass and attname = 'embedding'"
        ).fetchone()
    assert kind == ("extensions.vector",)
