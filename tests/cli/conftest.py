"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from service.cli.app import app
from tests.cli.running import Fuzi, Program, clean_environment, command


@pytest.fixture
def fuzi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzi:
    """Run ``fuzi`` in this process, in a home of its own."""
    monkeypatch.setenv("FUZI_HOME", str(tmp_path / "home"))
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
