"""``fuzi sql``: reads as the analysts' role, and nothing else gets through."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url
from typer.testing import Result

from service.db.sql_files import shipped_folder
from tests.cli.running import Fuzi, answer
from tests.conftest import Databases
from tests.database.chunk_rows import Child, collection, document, search_connection

type Asked = Callable[..., Result]


@pytest.fixture(scope="module")
def library(databases: Databases) -> Iterator[str]:
    with databases.fresh() as dsn:
        with search_connection(dsn) as connection:
            document(connection, collection(connection, "default"), "泵.md", [[Child("保修期为两年。")]])
        yield dsn


@pytest.fixture
def ask(fuzi: Fuzi, library: str) -> Asked:
    def run(*arguments: str, stdin: str | None = None) -> Result:
        return fuzi("sql", *arguments, stdin=stdin, env={"FUZI_DATABASE__URL": library, "COLUMNS": "200"})

    return run


def refusal(result: Result, words: str) -> None:
    assert result.exit_code == 1, result.output
    error = answer(result)["error"]
    assert error["code"] == "invalid_input"
    assert words in error["message"], error


def test_it_draws_a_table(ask: Asked) -> None:
    result = ask("select source, characters, null as nothing from analytics.documents")
    assert result.exit_code == 0, result.output
    assert "泵.md" in result.stdout
    assert "null" in result.stdout
    assert "1 row" in result.stdout


def test_it_searches_by_words(ask: Asked) -> None:
    found = answer(ask("--json", "select rank, source, content from rag.search('保修期') where content like '%期%'"))
    assert found["columns"][0] == {"name": "rank", "type": "int4"}
    assert found["rows"] == [{"rank": 1, "source": "泵.md", "content": "保修期为两年。"}]
    assert found["has_more"] is False


def test_without_a_query_it_lists_the_views_with_their_comments(ask: Asked) -> None:
    views = {row["view"]: row["shows"] for row in answer(ask("--json"))["rows"]}
    ours = {f"analytics.{file.name.partition('.')[0]}" for file in (shipped_folder("sql") / "analytics").iterdir()}
    assert ours | {"rag.index_health", "rag.documents_overview"} <= set(views)
    assert all(views.values())
    assert "analytics.documents" in ask().stdout


def test_rows_are_cut_with_a_word_about_it(ask: Asked) -> None:
    cut = ask("select generate_series(1, 1000000000) as n")
    assert "100 rows, and more" in cut.stdout
    assert "more than 100 rows" in cut.stderr
    three = ask("select n from generate_series(1, 5) as n", "--limit", "3", "--json")
    found = answer(three)
    assert ([row["n"] for row in found["rows"]], found["has_more"]) == ([1, 2, 3], True)
    assert len(answer(ask("select n from generate_series(1, 150) as n", "--json"))["rows"]) == 150
    assert answer(ask("select n from generate_series(1, 3) as n", "--limit", "3", "--json"))["has_more"] is False


def test_csv_for_spreadsheets(ask: Asked) -> None:
    result = ask(
        "--csv", 'select \'a, "b"\' as text, null as nothing, array[1, 2] as list, \'{"k": "值"}\'::jsonb as o'
    )
    assert list(csv.reader(io.StringIO(result.stdout))) == [
        ["text", "nothing", "list", "o"],
        ['a, "b"', "", "[1, 2]", '{"k": "值"}'],
    ]


def test_an_answer_without_rows_keeps_its_columns(ask: Asked) -> None:
    assert ask("--csv", "select source from analytics.documents where false").stdout.split() == ["source"]


def test_queries_come_from_files_and_from_standard_input(ask: Asked, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text("\ufeff-- 问题\nselect '一' as one;\n", encoding="utf-8")
    for result in (ask("--file", str(file), "--csv"), ask("-", "--csv", stdin="select '一' as one;")):
        assert result.stdout.split() == ["one", "一"]
    example = shipped_folder("sql") / "examples" / "search_by_words.sql"
    assert ask("--file", str(example)).exit_code == 0


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("delete from rag.document", "DELETE"),
        ("update rag.document set title = 'x' returning id", "UPDATE"),
        ("with gone as (delete from rag.document returning 1) select * from gone", "read-only transaction"),
        ("drop table rag.document", "DROP TABLE"),
        ("create table public.x (n int)", "CREATE TABLE"),
        ("select rag.grant_collection('rag_analyst', 'default')", "permission denied"),
        ("select key_sha256 from rag.api_key", "permission denied"),
        ("select extracted from rag.job", "permission denied"),
        ("select args from queue.procrastinate_jobs", "permission denied"),
        ("select 1; delete from rag.document", "multiple commands"),
        ("commit; reset role; delete from rag.document", "multiple commands"),
        ("do $$ begin reset role; delete from rag.document; end $$", "DELETE"),
        ("set statement_timeout = 0", "no query"),
        ("prepare transaction 'x'", "prepared transactions are disabled"),
        ("copy (select 1) to program 'id'", "permission denied"),
        ("copy rag.document to stdout", "no query"),
        ("copy (select 1) to stdout", "no query"),
        ("copy rag.collection from stdin", "permission denied"),
        ("listen fuzi", "no query"),
        ("vacuum rag.document", "transaction block"),
        ("selekt 1", "syntax error"),
        ("select * from analytics.documants", "does not exist"),
        ("select 1 / 0", "division by zero"),
        ("", "empty"),
    ],
)
def test_nothing_else_gets_through(ask: Asked, library: str, statement: str, words: str) -> None:
    refusal(ask("--json", statement), words)
    with psycopg.connect(library) as connection:
        assert connection.execute("select count(*) from rag.document where title = '泵.md'").fetchone() == (1,)


def test_a_query_that_takes_too_long_is_ended(ask: Asked) -> None:
    refusal(ask("--json", "--timeout", "0.2", "select pg_sleep(60)"), "longer than 0.2 seconds")


def test_columns_of_one_name_are_told_apart_before_they_are_lost(ask: Asked) -> None:
    refusal(ask("--json", "select 1 as n, 2 as n"), "called n")
    assert ask("--csv", "select 1 as n, 2 as n").stdout.split() == ["n,n", "1,2"]


@pytest.mark.parametrize(
    "statement",
    [
        "do $$ begin reset role; perform count(key_sha256) from rag.api_key; end $$",
        "do $$ begin reset session authorization; perform count(key_sha256) from rag.api_key; end $$",
        "select set_config('role', 'none', true), query_to_xml('select key_sha256 from rag.api_key', true, true, '')",
        "select set_config('role', current_database(), true)",
        "select set_config('session_authorization', 'postgres', true)",
    ],
)
def test_there_is_no_way_back_to_the_owner(ask: Asked, statement: str) -> None:
    result = ask("--json", statement)
    assert result.exit_code == 1, result.output
    assert answer(result)["error"]["code"] == "invalid_input"


def test_the_login_of_a_query_is_gone_afterwards_and_those_of_killed_calls_too(ask: Asked, library: str) -> None:
    left, used = "fuzi_sql_00000000000000aa", "fuzi_sql_00000000000000bb"
    with psycopg.connect(library, autocommit=True) as connection:
        for name, until in ((left, "2001-01-01"), (used, "2999-01-01")):
            connection.execute(f"drop role if exists {name}")
            connection.execute(f"create role {name} login valid until '{until}' in role rag_analyst")
        who = answer(ask("--json", "select session_user::text as me, current_user::text as it"))["rows"][0]
        assert who["me"] == who["it"]
        assert who["me"].startswith("fuzi_sql_")
        names = {row[0] for row in connection.execute("select rolname from pg_roles where rolname like 'fuzi_sql_%'")}
        assert used in names
        assert not {left, who["me"]} & names
        connection.execute(f"drop role {used}")


@contextmanager
def login(dsn: str, *, may: str = "", of: str | None = None) -> Iterator[str]:
    """URL of a login with these rights."""
    name = f"stranger_{uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        member = f" in role {of}" if of else ""
        connection.execute(f"create role {name} login password 'x' {may}{member}".encode())
        try:
            yield make_url(dsn).set(username=name, password="x").render_as_string(hide_password=False)
        finally:
            connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def test_a_login_that_may_make_no_other_is_told_what_it_needs(fuzi: Fuzi, library: str) -> None:
    with login(library) as url:
        result = fuzi("sql", "--json", "select 1", env={"FUZI_DATABASE__URL": url})
    error = answer(result)["error"]
    assert error["code"] == "misconfigured"
    assert "in role rag_analyst" in error["message"]
    assert "FUZI_DATABASE__ANALYST_URL" in error["message"]


def test_a_login_of_the_settings_asks(fuzi: Fuzi, library: str) -> None:
    with login(library) as owner, login(library, of="rag_analyst") as analyst:
        env = {"FUZI_DATABASE__URL": owner, "FUZI_DATABASE__ANALYST_URL": analyst}
        found = answer(fuzi("sql", "--json", "select session_user::text as me from analytics.documents", env=env))
        assert found["rows"] == [{"me": make_url(analyst).username}]


def test_a_login_that_is_not_let_in_is_said(fuzi: Fuzi, library: str) -> None:
    wrong = make_url(library).set(password="wrong").render_as_string(hide_password=False)
    error = answer(fuzi("sql", "--json", "select 1", env={"FUZI_DATABASE__ANALYST_URL": wrong}))["error"]
    assert error["code"] == "misconfigured"
    assert "does not let the login" in error["message"]


def test_a_wrong_command_line(ask: Asked) -> None:
    assert ask("select 1", "--csv", "--json").exit_code == 2
    assert ask("select 1", "--file", "nowhere.sql").exit_code == 2
