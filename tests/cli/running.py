"""Ways to run the command line, and to read what it said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.testing import Result

type Fuzi = Callable[..., Result]
type Program = Callable[..., subprocess.CompletedProcess[str]]


def command(*arguments: str) -> list[str]:
    """The installed program with its arguments."""
    return [str(Path(sys.executable).with_name("fuzi")), *arguments]


def clean_environment(home: Path, **environment: str) -> dict[str, str]:
    """This process's environment without the developer's own settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FUZI_")}
    return {**inherited, "FUZI_HOME": str(home), **environment}


def answer(result: Result | subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document on standard output."""
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


@contextmanager
def serving(home: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running ``fuzi serve`` and its URL."""
    process = subprocess.Popen(
        command("serve", "--port", "0", "--json"),
        env=clean_environment(home, **environment),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)["url"]
    finally:
        process.terminate()
        process.communicate(timeout=60)
