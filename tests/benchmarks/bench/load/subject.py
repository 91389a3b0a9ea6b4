"""A program that is measured or that measures, in a process of its own, told by lines of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.bench.rows import Timing

ROOT = Path(__file__).resolve().parents[4]


class Subject:
    """Asks the program and waits for its answer."""

    def __init__(self, process: subprocess.Popen[str], opening: Mapping[str, Any]) -> None:
        """Starts the talk; ``opened`` is what the program said to that."""
        self._process = process
        self.opened = self.ask(do="open", **opening)

    @property
    def pid(self) -> int:
        """Of the program."""
        return self._process.pid

    def ask(self, **request: Any) -> dict[str, Any]:
        """One line there, one line back.

        Raises:
            RuntimeError: the program said that it failed, or ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"failed": f"it ended with status {self._process.wait()}"}
        if "failed" in answer:
            raise RuntimeError(f"{self._process.args}: {answer['failed']}")
        return dict(answer)


@contextmanager
def subject(module: str, *, log: Path, python: Path | None = None, **opening: Any) -> Iterator[Subject]:
    """Run a module until the block ends; the first line it hears is ``opening``. Its standard error goes to ``log``."""
    command = [str(python or sys.executable), "-m", module]
    with log.open("a") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield Subject(process, opening)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass(frozen=True, slots=True)
class Contestant:
    """A subject asked for one thing in one way."""

    subject: Subject
    request: Mapping[str, Any] = field(default_factory=dict)

    def measure(self, clients: int, seconds: float) -> Timing:
        """Times of so many clients.

        Raises:
            RuntimeError: a question was not answered well.
        """
        answer = self.subject.ask(do="load", clients=clients, seconds=seconds, **self.request)
        wrong = {outcome: len(times) for outcome, times in answer["milliseconds"].items() if outcome != "ok"}
        if wrong:
            raise RuntimeError(f"answers that are none: {wrong}")
        return Timing(tuple(answer["milliseconds"]["ok"]), answer["seconds"])


def side_by_side(contestants: Mapping[str, Contestant], clients: int, seconds: float, rounds: int) -> dict[str, Timing]:
    """Measure all of them for ``seconds`` each, in so many turns, so that a busy machine hits them alike."""
    timings: dict[str, Timing] = {}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            timing = contestant.measure(clients, seconds / rounds)
            timings[name] = timings[name] + timing if name in timings else timing
    return timings
