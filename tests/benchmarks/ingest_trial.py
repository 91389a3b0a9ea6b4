"""Many small files by `fuzi ingest`, stopped by Ctrl-C, then by kill -9, then left to finish: nothing is done twice.

    .venv/bin/python -m tests.benchmarks.ingest_trial [--files 1000] [--ctrl-c 0.3] [--kill 0.6]

Files are single sentences of ``shared/data/bulk``, each with a number of its own. The command runs in a terminal of
its own, so that its bar is drawn and read; vectors come from a scripted server that counts texts. At the end the
database, the folder of the originals and the server are asked what was done how often. Exit status 0 when every file
is a ready document, and uploaded, extracted and embedded once; what a kill -9 interrupts in the middle may be done
again, and is reported. Prints a line of figures for each run.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from service.db.embedded import EmbeddedServer
from tests.fakes.embedding_server import Behaviour, EmbeddingServer, Request
from tests.inputs import SHARED

DIMENSION = 384
BAR = re.compile(r"(\d+)/(\d+) files(?:, (\d+) unchanged)?(?:, (\d+) failed)?")
LEFT = re.compile(r"stopped with (\d+) of (\d+) files left")


def write_files(folder: Path, count: int) -> None:
    with gzip.open(SHARED / "data" / "bulk" / "laws.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = (line for text in file for line in json.loads(text)["text"].splitlines() if 20 < len(line) < 120)
        for number, line in enumerate(itertools.islice(lines, count)):
            (folder / f"{number:04}.txt").write_text(f"第{number}号：{line}", encoding="utf-8")


@dataclass(frozen=True)
class Seen:
    """What the bar showed last."""

    finished: int = 0
    files: int = 0
    unchanged: int = 0
    failed: int = 0


class Run:
    """One `fuzi ingest` in a terminal of its own."""

    def __init__(self, folder: Path, home: Path, url: str) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("FUZI_")},
            "FUZI_HOME": str(home),
            "FUZI_EMBED__PROVIDER": "openai",
            "FUZI_EMBED__MODEL": "spelling",
            "FUZI_EMBED__DIMENSION": str(DIMENSION),
            "FUZI_EMBED__BASE_URL": url,
            "FUZI_LOG__LEVEL": "error",
            "TERM": "xterm",
            "COLUMNS": "160",
        }
        self._screen, terminal = pty.openpty()
        command = [str(Path(sys.executable).with_name("fuzi")), "ingest", str(folder)]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
        )
        os.close(terminal)
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._screen, 65536)
            except OSError:
                return
            self.text += piece.decode("utf-8", "replace")

    @property
    def seen(self) -> Seen:
        found = BAR.findall(self.text)
        return Seen(*(int(number or 0) for number in found[-1])) if found else Seen()

    def until(self, condition: Callable[[], bool]) -> None:
        while not condition() and self.process.poll() is None:
            time.sleep(0.02)

    def end(self, by: signal.Signals | None = None) -> float:
        if by is not None:
            os.killpg(self.process.pid, by)
        self.process.wait()
        self._reader.join(timeout=5)
        return time.perf_counter() - self.begun

    @property
    def last_lines(self) -> str:
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.text).replace("\r", "\n")
        return "\n".join(line for line in plain.splitlines() if line.strip())[-900:]


class Figures:
    """What was done, by the database, the folder and the embedding server."""

    def __init__(self, home: Path, texts: Counter[str]) -> None:
        self._home, self._texts = home, texts
        self._dsn = EmbeddedServer(home).start().nearest_dsn

    def one(self, statement: str) -> int:
        with psycopg.connect(self._dsn) as connection:
            row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
        return int(row[0] or 0) if row else 0

    @property
    def ready(self) -> int:
        return self.one("select count(*) from rag.document where status = 'ready'")

    def told(self) -> str:
        originals = sum(path.is_file() for path in (self._home / "originals").rglob("*"))
        return (
            f"{self.ready} ready documents, {self.one('select count(*) from rag.job')} jobs in "
            f"{self.one('select sum(attempts) from rag.job')} attempts, {originals} originals, "
            f"{sum(self._texts.values())} texts embedded of which {len(self.twice)} more than once"
        )

    @property
    def twice(self) -> list[str]:
        return [text for text, count in self._texts.items() if count > 1]


@contextmanager
def counting_server(seconds: float) -> Iterator[tuple[str, Counter[str]]]:
    texts: Counter[str] = Counter()

    def rule(request: Request) -> Behaviour | None:
        texts.update(request.texts)
        time.sleep(seconds)
        return None

    with EmbeddingServer(DIMENSION) as server:
        server.rule = rule
        yield server.url, texts


def trial(home: Path, count: int, ctrl_c: float, kill: float) -> bool:
    folder = home / "files"
    folder.mkdir()
    write_files(folder, count)
    good = True
    with counting_server(0.005) as (url, texts):
        first = Run(folder, home, url)
        first.until(lambda: first.seen.finished >= count * ctrl_c)
        shown, seconds = first.seen, first.end(signal.SIGINT)
        figures = Figures(home, texts)
        left = LEFT.search(first.last_lines)
        truth = left is not None and int(left[1]) == count - figures.ready
        good &= truth and first.process.returncode == 130
        print(f"Ctrl-C at {shown} after {seconds:.1f} s, exit {first.process.returncode}: {figures.told()}")
        print(f"  said: {left[0] if left else first.last_lines}; true: {truth}", flush=True)
        embedded_before = len(figures.twice)
        good &= embedded_before == 0

        ready = figures.ready
        second = Run(folder, home, url)
        second.until(lambda: second.seen.finished >= count * kill)
        shown, seconds = second.seen, second.end(signal.SIGKILL)
        print(f"kill -9 at {shown} after {seconds:.1f} s: {figures.told()}", flush=True)
        good &= shown.unchanged >= min(ready, shown.finished) - 1

        third = Run(folder, home, url)
        seconds = third.end()
        print(
            f"to the end in {seconds:.1f} s, exit {third.process.returncode}, last bar {third.seen}: {figures.told()}"
        )
        print(third.last_lines[-300:])
        in_flight = figures.one("select count(*) from rag.job where attempts > 1")
        print(f"{in_flight} jobs were begun a second time, those that kill -9 hit")
        good &= third.process.returncode == 0 and figures.ready == count
        good &= figures.one("select count(*) from rag.job") == count and len(figures.twice) <= in_flight
        fourth = Run(folder, home, url)
        seconds = fourth.end()
        print(f"once more in {seconds:.1f} s, last bar {fourth.seen}: {figures.told()}")
        good &= figures.one("select count(*) from rag.job") == count
    print("nothing was done twice" if good else "SOMETHING IS WRONG")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--ctrl-c", type=float, default=0.3, help="share of files done at the first Ctrl-C (0.3)")
    parser.add_argument("--kill", type=float, default=0.6, help="share of files done at the kill -9 (0.6)")
    arguments = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="fuzi-ingest-"))
    home.chmod(0o711)
    try:
        return 0 if trial(home, arguments.files, arguments.ctrl_c, arguments.kill) else 1
    finally:
        EmbeddedServer(home).stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
