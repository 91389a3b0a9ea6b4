"""Starts real ``fuzi`` processes quickly: a process that has all imports done and forks one child a command.

A torture run starts hundreds of processes, and two thirds of each start would be imports. A child is a process of its
own with its own session, which a kill -9 ends like any other; only its modules were loaded before it was born.
Reads one JSON object a line (``{"arguments": […], "environment": {…}}``) and answers with the child's process number.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from service.cli import main as fuzi


class Nursery:
    """The parent of all ``fuzi`` processes of one run; what they say goes to one log, in the order it was said."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        # A pipe, and another process that writes the file: a limit on the size of files must not stop the logs.
        self._writer = subprocess.Popen(
            ["/bin/sh", "-c", 'exec cat >>"$0"', folder / "fuzi.log"], stdin=subprocess.PIPE, start_new_session=True
        )
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.torture.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._writer.stdin,
            text=True,
            env=dict(environment) | {"PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=folder,
            start_new_session=True,
        )
        assert self._writer.stdin is not None
        self._writer.stdin.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, arguments: list[str], environment: Mapping[str, str]) -> int:
        """Run ``fuzi`` with these arguments; returns its process number."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"arguments": arguments, "environment": dict(environment)}) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the nursery; its children must have ended."""
        self._process.kill()
        self._process.wait()
        self._writer.wait()


def main() -> None:
    """Fork a child for every line of standard input."""
    _import_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no child of ours stays a zombie
    for line in sys.stdin:
        wish = json.loads(line)
        child = os.fork()
        if child == 0:
            _live(wish["arguments"], wish["environment"])
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def _import_everything() -> None:
    """Load what `fuzi serve` and `fuzi worker` import late."""
    for name in ("service.cli.app", "service.cli.work.serving", "service.wiring", "service.worker"):
        importlib.import_module(name)
    for name in ("lifespan.on", "loops.auto", "protocols.http.auto"):
        importlib.import_module(f"uvicorn.{name}")


def _live(arguments: list[str], environment: Mapping[str, str]) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    with Path("/dev/null").open("r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    sys.argv[:] = ["fuzi", *arguments]
    code = 1
    try:
        fuzi()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
