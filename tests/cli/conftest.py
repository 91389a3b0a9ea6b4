"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from service.cli.app import app

type Fuzi = Callable[..., Result]
type Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def fuzi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzi:
    """Run ``fuzi`` in this process, in a home of its own; ``input`` is its standard input."""
    monkeypatch.setenv("FUZI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str | bytes | None = None, env: Mapping[str, str] | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin, env=env, prog_name="fuzi")

    return run


@pytest.fixture
def program(home: Path) -> Program:
    """Run ``fuzi`` in a process of its own, with the same home for the whole test."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            input=stdin,
            env=clean_environment(home, **environment),
            cwd=home,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=240,
        )

    return run


def command(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("fuzi")), *arguments]


def clean_environment(home: Path, **environment: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FUZI_")}
    return {**inherited, "FUZI_HOME": str(home), **environment}


def answer(result: Result | subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document on standard output."""
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value
