"""Every example of the analysts' page and of its folder runs, through psycopg and through psql, and finds something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from service.db.sql_files import shipped_folder

_SQL = shipped_folder("sql")
_PAGE = (_SQL / "README.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^```sql\n(.*?)^```$", _PAGE, flags=re.MULTILINE | re.DOTALL)
_FILES = sorted((_SQL / "examples").glob("*.sql"))
EXAMPLES = [
    *(pytest.param(block, id=f"block {number}") for number, block in enumerate(_BLOCKS, 1)),
    *(pytest.param(file.read_text(encoding="utf-8"), id=file.stem) for file in _FILES),
]


@pytest.fixture(scope="module")
def analyst(filled: str) -> Iterator[str]:
    """URL of a personal login that has nothing but membership of ``rag_analyst``."""
    name = sql.Identifier(f"analyst_{uuid4().hex[:12]}")
    with psycopg.connect(filled, autocommit=True) as connection:
        connection.execute(sql.SQL("create role {} login password 'page' in role rag_analyst").format(name))
    yield make_url(filled).set(username=name._obj[0], password="page").render_as_string(hide_password=False)
    with psycopg.connect(filled, autocommit=True) as connection:
        connection.execute(sql.SQL("drop role {}").format(name))


def test_the_page_has_examples() -> None:
    assert len(_BLOCKS) >= 8
    assert len(_FILES) >= 8


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_finds_something(analyst: str, example: str) -> None:
    with psycopg.connect(analyst) as connection:
        cursor = connection.execute(example)  # type: ignore[arg-type]
        if cursor.description is None:  # the session settings
            assert example.startswith("set ")
        else:
            assert cursor.fetchall()


@pytest.mark.skipif(shutil.which("psql") is None, reason="Debian's psql is not installed")
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_in_psql(analyst: str, example: str) -> None:
    done = subprocess.run(
        ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", "-", analyst],
        input=example,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PGCLIENTENCODING": "UTF8", "PAGER": "cat"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.search(r"\([1-9]\d* rows?\)", done.stdout) or example.startswith("set ")


def test_the_examples_say_what_they_should(filled: str) -> None:
    def rows(name: str) -> list[tuple[object, ...]]:
        with psycopg.connect(filled) as connection:
            return connection.execute((_SQL / "examples" / name).read_text(encoding="utf-8")).fetchall()  # type: ignore[arg-type]

    assert rows("prove_provenance.sql") == [(0, 0)]
    assert rows("failed_documents.sql") == [("no_text", 1, "扫描.pdf", "no text in it")]
    assert [row[:4] for row in rows("dead_letters.sql")] == [
        ("encrypted", "extract", "default", "密码.pdf"),
        ("no_text", "extract", "default", "扫描.pdf"),
    ]
    assert [row[:5] for row in rows("job_funnel.sql")] == [("default", 8, 2, 2, 2), ("archive", 0, 0, 0, 0)]
    assert [row[1] for row in rows("slow_uploads.sql")] == ["完成.md", "警告.pdf"]
    assert [row[1:] for row in rows("duplicate_files.sql")] == [(2, ["财务/预算.xlsx", "财务/预算-副本.xlsx"])]
    assert [row[2] for row in rows("slow_searches.sql")] == [9.0, 9.0, 6.0, 3.0]
    assert [row[3] for row in rows("evaluate_questions.sql")] == [False, True, True]
    assert {row[1] for row in rows("search_filtered.sql")} == {"财务/报销制度.pdf"}


@pytest.mark.parametrize("folder", ["views", "functions", "definers", "analytics", "examples"])
def test_the_page_names_every_object(folder: str) -> None:
    for file in (_SQL / folder).glob("*.sql"):
        name = file.name.partition(".")[0]
        schema = "analytics" if folder == "analytics" else "rag"
        mark = f"(examples/{name}.sql)" if folder == "examples" else f"`{schema}.{name}"
        assert mark in _PAGE, f"sql/README.md does not describe {Path(folder) / file.name}"


def test_the_page_names_every_table(filled: str) -> None:
    with psycopg.connect(filled) as connection:
        tables = connection.execute(
            "select c.relname from pg_class as c, pg_roles as r where c.relnamespace = 'rag'::regnamespace"
            " and c.relkind = 'r' and r.rolname = 'rag_analyst' and has_table_privilege(r.oid, c.oid, 'select')"
        ).fetchall()
    assert tables
    assert [name for (name,) in tables if f"`rag.{name}`" not in _PAGE] == []
