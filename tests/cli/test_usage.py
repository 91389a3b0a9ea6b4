"""What is refused before anything is opened, and output where the locale knows no Chinese."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Fuzi, Program, answer


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ingest", ".", "--metadata", "{not json"], "invalid_metadata"),
        (["ingest", ".", "--metadata", "[1]"], "invalid_metadata"),
        (["ingest", ".", "--metadata", '{"x": NaN}'], "invalid_metadata"),
        (["search", "x", "--metadata-filter", "{"], "invalid_filter"),
        (["search", "x", "--metadata-filter", '"a"'], "invalid_filter"),
        (["documents", "--url", "nonsense"], "unavailable"),
        (["documents", "--url", "http://127.0.0.1:1"], "unavailable"),
    ],
)
def test_wrong_values_are_errors_with_a_code(fuzi: Fuzi, arguments: list[str], code: str) -> None:
    result = fuzi(*arguments, "--json")
    assert (result.exit_code, answer(result)["error"]["code"]) == (1, code)


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest"],
        ["ingest", "nowhere"],
        ["ingest", ".", "--concurrency", "0"],
        ["search"],
        ["documents", "--limit", "0"],
        ["documents", "--status", "done"],
        ["delete"],
        ["delete", "not-an-id", "--yes"],
        ["delete", "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11", "--source", "a", "--yes"],
        ["delete", "--source", "a"],
        ["serve", "--port", "70000"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_ends_with_2_and_prints_no_result(fuzi: Fuzi, arguments: list[str]) -> None:
    result = fuzi(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


def test_the_embedded_server_is_not_managed_when_another_database_is_set(fuzi: Fuzi) -> None:
    elsewhere = {"FUZI_DATABASE__URL": "postgresql+psycopg://fuzi:p%40ss@db.example:5433/fuzi"}
    for name in ("start", "stop", "status"):
        result = fuzi("db", name, "--json", env=elsewhere)
        assert (result.exit_code, answer(result)["error"]["code"]) == (1, "misconfigured")
    # psql knows no "+psycopg"
    assert fuzi("db", "url", env=elsewhere).stdout == "postgresql://fuzi:p%40ss@db.example:5433/fuzi\n"


def test_a_server_that_never_ran_is_stopped(fuzi: Fuzi, tmp_path: Path) -> None:
    assert fuzi("db", "stop").stdout == "it was not running\n"
    status = answer(fuzi("db", "status", "--json"))
    assert (status["state"], status["pid"]) == ("stopped", None)
    assert status["data"] == str(tmp_path / "home" / "postgres" / "data")


def test_output_survives_a_locale_without_chinese(program: Program) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    for_people = program("split", "-", stdin="第一句。", **ascii_only)
    assert for_people.returncode == 0, for_people.stderr
    assert "[0:4]" in for_people.stdout
    for_machines = program("split", "-", "--json", stdin="第一句。", **ascii_only)
    assert json.loads(for_machines.stdout)["children"][0]["content"] == "第一句。"
