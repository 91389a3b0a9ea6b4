"""docs/scale.md says what is so: what it quotes from the code, and that nothing in it is unchecked."""

from __future__ import annotations

import configparser
import shlex

import psycopg
import pytest

from service.config import DatabaseSettings, SearchSettings, Settings
from service.db.engine import session_settings
from tests.cli.replica.page import block, blocks
from tests.cli.running import Fuzi

# by test_commands.py, and the last by tests/flows/reembed
RUN_ELSEWHERE = {("bash", "fuzi replica init"), ("sql", "wal_level"), ("text", "FUZI_EMBED__VECTOR_TYPE=halfvec")}
RUN_HERE = {("text", "fuzi worker"), ("ini", "pgbouncer"), ("sql", "plan_cache_mode"), ("sql", "alter index rag.")}


def test_every_block_is_checked_by_a_test() -> None:
    for language, code in blocks():
        known = [words for name, words in RUN_ELSEWHERE | RUN_HERE if name == language and words in code]
        assert len(known) == 1, code


def test_an_index_is_built_anew(database: str) -> None:
    for language, code in blocks():
        if (language, "alter index rag." in code) == ("sql", True):
            with psycopg.connect(database, autocommit=True) as connection:
                for statement in filter(None, map(str.strip, code.split(";"))):
                    connection.execute(statement)  # type: ignore[call-overload]
                row = connection.execute("select count(*) from pg_index where not indisvalid").fetchone()
            assert row == (0,)


def test_a_pooled_role_gets_what_our_connections_ask_for(database: str) -> None:
    """PgBouncer drops the startup options; the role's settings have to say the same, the queue's path included."""
    statements = block("sql", "plan_cache_mode").replace("role fuzi ", "role pooled ")
    with psycopg.connect(database) as connection:
        connection.execute("create role pooled")
        connection.execute(statements)  # type: ignore[call-overload]
        row = connection.execute("select rolconfig from pg_roles where rolname = 'pooled'").fetchone()
        assert row is not None
        of_role = dict(setting.split("=", 1) for setting in row[0])
        wanted = dict(session_settings(DatabaseSettings(), SearchSettings()))
        del wanted["application_name"]
        wanted["statement_timeout"] = "30s"
        assert "queue" in of_role.pop("search_path")
        assert of_role == wanted
        connection.rollback()


def test_the_pooler_keeps_sessions_and_lets_our_options_pass() -> None:
    parser = configparser.ConfigParser()
    parser.read_string(block("ini", "pgbouncer"))
    assert parser["pgbouncer"]["pool_mode"] == "session"
    assert "options" in parser["pgbouncer"]["ignore_startup_parameters"]


@pytest.mark.parametrize("line", block("text", "fuzi worker").strip().splitlines())
def test_processes_are_started_so(line: str, fuzi: Fuzi, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line, comments=True)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
        assert Settings(_env_file=None).jobs.inside_serve is False
    assert words.pop(0) == "fuzi"
    offered = fuzi(words[0], "--help").stdout
    for option in (word for word in words if word.startswith("--")):
        assert option in offered
