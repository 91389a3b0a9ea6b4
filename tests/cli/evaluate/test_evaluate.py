"""``fuzi evaluate`` and ``fuzi tune`` as commands: files in, tables and JSON out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from rich.console import Console

from service.cli.evaluate.tuning_tables import show_tuning
from tests.cli.running import Fuzi, answer
from tests.conftest import Databases
from tests.flows.evaluate.conftest import write_set


@pytest.fixture
def environment(databases: Databases, tmp_path: Path) -> Iterator[Mapping[str, str]]:
    with databases.fresh() as dsn:
        yield {"FUZI_DATABASE__URL": dsn}
        write_set(tmp_path / "handbook")
        with psycopg.connect(dsn, autocommit=True) as connection:
            like = "select datname from pg_database where datname like current_database() || '_evaluation_%'"
            assert connection.execute(like).fetchall() == []  # --drop was asked for


def test_from_a_data_set_to_a_comparison(fuzi: Fuzi, tmp_path: Path, environment: Mapping[str, str]) -> None:
    folder = str(write_set(tmp_path / "handbook"))
    first = answer(fuzi("evaluate", folder, "--legs", "fts,rrf", "--json", env=environment))
    assert Path(first["file"]).parent == tmp_path / "home" / "evaluations"
    assert list(first["stages"]) == ["fts", "rrf"]
    assert 0.2 <= first["stages"]["fts"]["metrics"]["hit@10"]["value"] <= 0.8  # the part number, never the last one

    table = fuzi("evaluate", folder, "--limit", "3", "--legs", "fts", env=environment)
    assert table.exit_code == 0
    for words in ("handbook", "3 questions", "6 documents", "mrr@10", "total ms", "95% interval", "kept as"):
        assert words in table.stdout

    listed = answer(fuzi("evaluate", "--list", "--json"))["results"]
    assert [each["question_count"] for each in listed] == [5, 3]
    assert "fts" in fuzi("evaluate", "--list").stdout

    compared = answer(fuzi("evaluate", "--compare", f"{first['file']}:fts", f"{first['file']}:rrf", "--json"))
    (stage,) = compared["stages"]
    assert (stage["stage_before"], stage["stage_after"], stage["question_count"]) == ("fts", "rrf", 5)
    shown = fuzi("evaluate", "--compare", first["file"], "latest")
    assert "3 questions are in both results, of 5 and 3" in shown.stdout
    assert "no difference beyond chance" in " ".join(shown.stdout.split())

    tuned = fuzi("tune", folder, "--json", env=environment)
    report = answer(tuned)
    assert report["sets"] == {"handbook": {"tuning": 2, "held_out": 3}}
    assert (report["tried"], report["recommended"]) == (620, {})
    assert len(report["weights"]) == 11
    printed = Console(file=StringIO(), width=150)
    show_tuning(printed, report)
    assert "Keep the settings you have" in printed.file.getvalue()  # type: ignore[attr-defined]

    assert answer(fuzi("evaluate", folder, "--drop", "--json", env=environment)) == {"dropped": True}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [".", "--list"],
        ["./nowhere"],
        [".", "--collection", "x"],
        [".", "--legs", "vector,best"],
        ["--questions", "my.csv", "--split", "auto"],
        ["--questions", "my.csv", "--fresh"],
        ["--list", "--drop"],
        ["--drop"],
    ],
)
def test_what_does_not_go_together_is_a_wrong_command_line(fuzi: Fuzi, arguments: list[str]) -> None:
    result = fuzi("evaluate", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["."], "invalid_input"),
        (["--questions", "my.csv"], "invalid_input"),
        (["--compare", "a", "b"], "not_found"),
        ([".", "--database", "mysql://x/y"], "invalid_input"),
    ],
)
def test_what_is_not_right_is_an_error_with_a_code(fuzi: Fuzi, arguments: list[str], code: str) -> None:
    result = fuzi("evaluate", *arguments, "--json")
    assert (result.exit_code, answer(result)["error"]["code"]) == (1, code)


def test_a_file_that_is_no_result_does_not_hide_the_others(fuzi: Fuzi, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "evaluations"
    folder.mkdir(parents=True)
    (folder / "notes.json").write_text("{}")
    listed = fuzi("evaluate", "--list", "--json")
    assert (listed.exit_code, answer(listed)) == (0, {"results": []})
    assert "notes.json" in listed.stderr


def test_no_results_is_no_error(fuzi: Fuzi) -> None:
    assert answer(fuzi("evaluate", "--list", "--json")) == {"results": []}
    assert "no results" in fuzi("evaluate", "--list").stderr
