"""The analysts' role reads and nothing else; where it cannot be made the migration goes on without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from service.config import Settings
from service.db.embedded import EmbeddedServer
from service.db.migrate import downgrade, upgrade
from tests.database.chunk_rows import Connection

_SETTINGS = Settings(_env_file=None)


@pytest.fixture
def as_analyst(filled: str) -> Iterator[Connection]:
    """Connection in which ``rag_analyst`` acts."""
    with psycopg.connect(filled, autocommit=True) as connection:
        connection.execute("set role rag_analyst")
        yield connection


@pytest.mark.parametrize(
    "query",
    [
        "select * from rag.collection",
        "select * from rag.document",
        "select * from rag.parent_chunk",
        "select * from rag.child_chunk",
        "select * from rag.embedding_model",
        "select * from rag.search_log",
        "select * from rag.documents_overview",
        "select * from rag.parent_chunks_overview",
        "select * from rag.child_chunks_overview",
        "select * from rag.index_health",
        "select * from rag.jobs_overview",
        "select * from rag.ingestion_funnel",
        "select * from rag.hybrid_search('报销', (select embedding from rag.child_chunk order by id limit 1))",
        "select * from rag.fts_candidates('报销', 5)",
        "select * from rag.vector_candidates((select embedding from rag.child_chunk order by id limit 1), 5)",
        "select * from rag.feedback",
        "select * from rag.analyst_collection",
        "select * from rag.search('报销')",
        "select * from rag.similar_chunks((select chunk_id from rag.child_chunk order by id limit 1))",
        "select rag.visible_collections(current_user), rag.searched_collections()",
        "select rag.sees_every_collection(current_user)",
    ],
)
def test_it_reads(as_analyst: Connection, query: str) -> None:
    assert as_analyst.execute(query).fetchall()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into rag.collection (name) values ('x')",
        "update rag.document set title = 'x'",
        "delete from rag.child_chunk",
        "truncate rag.search_log",
        "drop view rag.documents_overview",
        "create table rag.own (id int)",
        "create or replace view rag.index_health as select 1 as x",
        "delete from rag.bm25_sentinel",
        "reindex index rag.child_chunk_bm25",
        "insert into rag.feedback (search_id, chunk_id, verdict) values (gen_random_uuid(), gen_random_uuid(), 'good')",
        "select rag.grant_collection('rag_analyst', 'default')",
        "select rag.revoke_collection('some_group', 'default')",
    ],
)
def test_it_writes_nothing(as_analyst: Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        as_analyst.execute(statement)  # type: ignore[arg-type]


def test_its_own_login_has_limits_and_search_settings(filled: str) -> None:
    with psycopg.connect(filled) as connection:
        row = connection.execute(
            "select s.setconfig, r.rolcanlogin, r.rolsuper, shobj_description(r.oid, 'pg_authid')"
            " from pg_roles as r join pg_db_role_setting as s on s.setrole = r.oid and s.setdatabase = 0"
            " where r.rolname = 'rag_analyst'"
        ).fetchone()
    assert row is not None
    assert set(row[0]) >= {
        "statement_timeout=60s",
        "default_transaction_read_only=on",
        "max_parallel_workers_per_gather=0",
        "hnsw.ef_search=400",
        "hnsw.iterative_scan=relaxed_order",
    }
    assert row[1:] == (False, False, "Reads the schema rag")


def test_a_role_that_may_not_create_roles_migrates_without_it_and_is_told(home: Path) -> None:
    server = EmbeddedServer(home, options={"fsync": "off"})
    address = server.start()
    with psycopg.connect(address.dsn, autocommit=True) as connection:
        connection.execute("create extension vector")
        connection.execute("create extension pg_search")
        connection.execute("create role plain login password 'plain'")
        connection.execute("create role maker login createrole password 'maker'")
        connection.execute(f"grant create on database {connection.info.dbname} to plain, maker")  # type: ignore[arg-type]
    plain, maker = (
        make_url(address.dsn).set(username=name, password=name).render_as_string(hide_password=False)
        for name in ("plain", "maker")
    )
    upgrade(plain, _SETTINGS)
    assert _analyst(address.dsn) == (False, False)
    downgrade(plain, _SETTINGS, "base")
    with psycopg.connect(address.dsn, autocommit=True) as connection:
        connection.execute("drop schema rag cascade")
    upgrade(maker, _SETTINGS)
    assert _analyst(address.dsn) == (True, True)
    downgrade(maker, _SETTINGS, "base")
    assert _analyst(address.dsn) == (True, False)


def _analyst(dsn: str) -> tuple[bool, bool]:
    """Whether the role exists, and whether it may use the schema."""
    with psycopg.connect(dsn) as connection:
        exists = connection.execute("select from pg_roles where rolname = 'rag_analyst'").fetchone() is not None
        if not exists:
            return False, False
        row = connection.execute("select has_schema_privilege('rag_analyst', 'rag', 'usage')").fetchone()
    return True, row == (True,)
