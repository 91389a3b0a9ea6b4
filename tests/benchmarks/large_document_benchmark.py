"""What a huge document costs: memory of every process while it goes in, and what searches feel of it meanwhile.

    .venv/bin/python -m tests.benchmarks.large_document_benchmark [--megabytes 20] [--library 300] [--searches 100]

Starts `fuzi serve` (embedded PostgreSQL, a home of its own) against a fast embedding server in another process, fills a
small library, measures searches while nothing else happens, uploads one document of so many megabytes of text and
measures searches, a few a second, until its job is done. The embedding server answers from a table, so that the time is
the service's own. Goals: processes of Fuzi below 1 GB together, p50 while ingesting below 3 × idle.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

from service.db.embedded import EmbeddedServer
from tests.inputs import SHARED

MB = 1024 * 1024
DIMENSION = 384
GOAL_MB, GOAL_RATIO = 1024, 3.0


def laws() -> Iterator[str]:
    with gzip.open(SHARED / "data" / "bulk" / "laws.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def write_document(path: Path, size: int) -> None:
    """A text of ``size`` bytes in which no line is there twice, so that no vector is used twice."""
    numbers = itertools.count(1)
    with path.open("wb") as file:
        while True:
            for text in laws():
                for line in text.splitlines():
                    file.write(f"（{next(numbers)}）{line}\n".encode())
                if file.tell() >= size:
                    return


def embedding_server(ready: int) -> None:
    """Serve vectors from a table (runs in a process of its own); the port goes to the pipe ``ready``."""
    import numpy as np  # noqa: PLC0415 - only this process needs them

    from tests.fakes.embedding_server import EmbeddingServer, Handler, Request  # noqa: PLC0415

    os.nice(5)
    dice = np.random.default_rng(7)
    table = [json.dumps([round(float(x), 5) for x in dice.normal(size=DIMENSION)]).encode() for _ in range(512)]

    class FromTable:
        def act(self, handler: Handler, request: Request) -> None:
            rows = [
                b'{"object":"embedding","index":%d,"embedding":%s}' % (at, table[hash(text) % len(table)])
                for at, text in enumerate(request.texts)
            ]
            request.body.clear()
            handler.owner.requests.clear()
            handler.answer(200, b'{"object":"list","data":[' + b",".join(rows) + b"]}")

    with EmbeddingServer(DIMENSION) as server:
        server.rule = lambda _request: FromTable()
        os.write(ready, server.url.encode())
        os.close(ready)
        threading.Event().wait()


class Memory:
    """Peaks of the resident memory of a process and all below it, by what they run, sampled ten times a second."""

    def __init__(self, root: psutil.Process) -> None:
        self.root = root
        self.peaks: dict[str, int] = defaultdict(int)
        self.fuzi = self.idle = 0
        self._stop = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        self.idle = self._sample()
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        yield
        self._stop.set()
        thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self._sample()

    def _sample(self) -> int:
        total = 0
        for process in [self.root, *self.root.children(recursive=True)]:
            try:
                name, size = f"{process.name()} {process.pid}", process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
            if process.name() == "postgres":
                continue
            self.peaks[name] = max(self.peaks[name], size)
            total += size
        self.fuzi = max(self.fuzi, total)
        return total


@contextmanager
def service(home: Path, embedding_url: str) -> Iterator[tuple[httpx.Client, psutil.Process]]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("FUZI_")},
        "FUZI_HOME": str(home),
        "FUZI_SERVER__PORT": "0",
        "FUZI_EMBED__PROVIDER": "openai",
        "FUZI_EMBED__MODEL": "table",
        "FUZI_EMBED__DIMENSION": str(DIMENSION),
        "FUZI_EMBED__BASE_URL": embedding_url,
        "FUZI_SEARCH__LOG_SHARE": "0",
        "FUZI_LOG__FORMAT": "json",
    }
    log = (home / "serve.log").open("w+")
    port = free_port()
    command = [str(Path(sys.executable).with_name("fuzi")), "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600)
        for _ in range(600):
            try:
                if http.get("/readyz").status_code == httpx.codes.OK:
                    break
            except httpx.TransportError:
                pass
            assert process.poll() is None, (home / "serve.log").read_text()
            time.sleep(0.2)
        yield http, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    import socket  # noqa: PLC0415

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Searches:
    """Times searches whose words are never the same twice, so that no cache answers them."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._dice = random.Random(3)
        self._words = "".join(itertools.islice(laws(), 40))
        self.steps: dict[str, list[float]] = defaultdict(list)

    def one(self) -> float:
        start = self._dice.randrange(len(self._words) - 30)
        begin = time.perf_counter()
        response = self._http.post("/v1/search", json={"query": self._words[start : start + 20]})
        milliseconds = (time.perf_counter() - begin) * 1000
        assert response.status_code == httpx.codes.OK, response.text
        for step, value in response.json()["timings_ms"].items():
            self.steps[step].append(value)
        return milliseconds

    def some(self, count: int, pause: float) -> list[float]:
        milliseconds = []
        for _ in range(count):
            milliseconds.append(self.one())
            time.sleep(pause)
        return milliseconds

    def told_steps(self) -> str:
        """Medians of the steps since the last call."""
        medians = {step: statistics.median(values) for step, values in self.steps.items()}
        self.steps.clear()
        return "  steps, p50: " + ", ".join(f"{step} {value:.1f}" for step, value in medians.items())


def told(name: str, values: list[float]) -> str:
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(len(ordered) * share))]  # noqa: E731 - a percentile
    return (
        f"{name:18} p50 {statistics.median(ordered):6.1f} ms  p95 {at(0.95):6.1f}  p99 {at(0.99):6.1f}  "
        f"max {ordered[-1]:7.1f}  ({len(ordered)} searches)"
    )


def upload(http: httpx.Client, path: Path, *, wait: bool) -> dict[str, object]:
    with path.open("rb") as file:
        response = http.post("/v1/documents", params={"wait": str(wait).lower()}, files={"file": (path.name, file)})
    assert response.is_success, response.text
    return dict(response.json())


def run(home: Path, url: str, megabytes: float, library: int, searches: int, pause: float) -> bool:
    document = home / "large.txt"
    write_document(document, int(megabytes * MB))
    with service(home, url) as (http, process):
        for number, text in enumerate(itertools.islice(laws(), library)):
            small = home / f"{number}.txt"
            small.write_text(text[:2000], encoding="utf-8")
            upload(http, small, wait=number % 20 == 0)
        while http.get("/v1/jobs", params={"unfinished": "true", "limit": 1}).json()["total"]:
            time.sleep(0.5)
        timer = Searches(http)
        for _ in range(20):
            timer.one()
        timer.steps.clear()
        idle = timer.some(searches, pause)
        print(told("idle before", idle))
        print(timer.told_steps(), flush=True)
        memory, busy = Memory(process), defaultdict[str, list[float]](list)
        with memory.watched():
            begin = time.perf_counter()
            accepted = upload(http, document, wait=False)
            print(f"accepted after {time.perf_counter() - begin:.1f} s", flush=True)
            while True:
                job = http.get(f"/v1/jobs/{accepted['job_id']}").json()
                if job["status"] in {"ready", "ready_with_warnings", "failed", "cancelled"}:
                    break
                busy[job["status"]].append(timer.one())
                time.sleep(pause)
        seconds = time.perf_counter() - begin
        print(
            f"{job['status']} after {seconds:.0f} s: {job['child_count']} child chunks of {megabytes} MB; "
            f"{job['timings_ms']}"
        )
        busy_steps = timer.told_steps()
        # a second time, since neighbours on the machine may have come or gone
        afterwards = timer.some(searches, pause)
        print(told("idle afterwards", afterwards))
    everything = [value for values in busy.values() for value in values]
    for stage, values in busy.items():
        print(told(stage, values))
    print(told("while ingesting", everything))
    print(busy_steps)
    for name, size in sorted(memory.peaks.items(), key=lambda peak: -peak[1]):
        print(f"peak of {name:24} {size / MB:7.0f} MB")
    ratio, later = (statistics.median(everything) / statistics.median(values) for values in (idle, afterwards))
    print(f"p50 ratio {ratio:.2f} (goal < {GOAL_RATIO}), to idle afterwards {later:.2f}")
    print(
        f"Fuzi's processes together: idle {memory.idle / MB:.0f} MB, peak {memory.fuzi / MB:.0f} MB (goal < {GOAL_MB})"
    )
    return job["status"] == "ready" and ratio < GOAL_RATIO and memory.fuzi < GOAL_MB * MB


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=20, help="size of the document as UTF-8 (20)")
    parser.add_argument("--library", type=int, default=300, help="small documents that are there before (300)")
    parser.add_argument("--searches", type=int, default=100, help="searches while idle (100)")
    parser.add_argument("--pause", type=float, default=0.15, help="seconds between two searches (0.15)")
    parser.add_argument("--embed", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.embed is not None:
        embedding_server(arguments.embed)
        return 0
    home = Path(tempfile.mkdtemp(prefix="fuzi-large-"))
    home.chmod(0o711)
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "tests.benchmarks.large_document_benchmark", "--embed", str(writer)]
    server = subprocess.Popen(command, pass_fds=[writer])
    try:
        os.close(writer)
        url = os.read(reader, 1000).decode()
        good = run(home, url, arguments.megabytes, arguments.library, arguments.searches, arguments.pause)
    finally:
        server.terminate()
        EmbeddedServer(home).stop()
        shutil.rmtree(home, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
