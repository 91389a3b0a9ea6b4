"""`fuzi serve` as its users start it, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.benchmarks.bench.load.subject import ROOT

FUZI = (sys.executable, "-c", "from service.cli import main; main()")
"""The command of this checkout; the script in the virtual environment may belong to another one."""


@dataclass(frozen=True, slots=True)
class Served:
    """A service that listens; ``started_seconds`` from its launch to the first request it could take."""

    url: str
    pid: int
    started_seconds: float

    @property
    def host(self) -> str:
        """Where it listens."""
        return str(urlsplit(self.url).hostname)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(urlsplit(self.url).port or 80)


@contextmanager
def served(
    home: Path, log: Path, settings: dict[str, str] | None = None, command: tuple[str, ...] = (*FUZI, "serve")
) -> Iterator[Served]:
    """Serve the library below ``home`` until the block ends. ``settings`` are further ``FUZI_…`` variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FUZI_")}
    environment = {**inherited, "FUZI_HOME": str(home), "FUZI_LOG__FORMAT": "json", **(settings or {})}
    begin = time.perf_counter()
    with log.open("a") as errors:
        process = subprocess.Popen(
            [*command, "--port", "0", "--json"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"fuzi serve ended with status {process.wait()}; see {log}")
            yield Served(json.loads(line)["url"], process.pid, time.perf_counter() - begin)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
