"""The fixtures of tests/conftest.py are what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from service.db.embedded import EmbeddedAddress

if TYPE_CHECKING:
    from tests.conftest import Databases


def test_server_is_postgresql_with_both_extensions(server: EmbeddedAddress, empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        connection.execute("create extension vector")
        connection.execute("create extension pg_search")
        rows = connection.execute("select extname from pg_extension where extname in ('vector', 'pg_search')")
        assert {name for (name,) in rows} == {"vector", "pg_search"}


def test_two_databases_share_nothing(databases: Databases, empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        connection.execute("create table here (id int)")
    with databases.fresh(migrated=False) as other, psycopg.connect(other) as connection:
        assert connection.execute("select to_regclass('here')").fetchone() == (None,)


def test_shared_inputs_are_there(shared: Path) -> None:
    assert (shared / "cases" / "field_cases.jsonl").is_file()
