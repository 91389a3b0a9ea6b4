"""From the command `fuzi serve` to the first answer, with the database stopped and with it running."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from statistics import median

from service.db.embedded import EmbeddedServer
from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.load.served import served
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, against, shown
from tests.database.chunk_rows import search_connection

_FLOOR = "PostgreSQL and its first search alone"


def run(bench: Bench) -> Iterator[Row]:
    """Medians of three starts at the smallest size; the page cache is warm, as after a deployment."""
    with stored(bench, bench.sizes[0]) as store:
        bench.tell(f"start-up at {store.chunks:,} chunks")
        rounds = bench.rounds

        def several(start: Callable[[], float]) -> float:
            return median(start() for _ in range(rounds))

        floor = several(lambda: _floor(store))
        cold = [_service(bench, store, stop=True) for _ in range(rounds)]
        warm = [_service(bench, store, stop=False) for _ in range(rounds)]
        for name, found in (("database stopped", cold), ("database running", warm)):
            listening, answering = (median(seconds) for seconds in zip(*found, strict=True))
            yield against("startup", f"fuzi serve to the first answer, {name}", answering, "s", _FLOOR, floor)
            yield shown("startup", f"fuzi serve until it listens, {name}", listening, "s")


def _service(bench: Bench, store: Stored, *, stop: bool) -> tuple[float, float]:
    """Seconds until it listens, and until a search that has to be embedded is answered."""
    if stop:
        EmbeddedServer(store.home).stop()
    begin = time.perf_counter()
    with served(store.home, bench.log) as service:
        body = json.dumps({"query": "网络服务提供者的义务"}).encode()
        request = urllib.request.Request(f"{service.url}/v1/search", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["passages"]
        return service.started_seconds, time.perf_counter() - begin


def _floor(store: Stored) -> float:
    server = EmbeddedServer(store.home)
    server.stop()
    begin = time.perf_counter()
    with search_connection(server.start().nearest_dsn) as connection:
        asked = ["网络服务提供者的义务", store.vectors[0]]
        assert connection.execute("select * from rag.hybrid_search(%s, %s)", asked).fetchall()
    return time.perf_counter() - begin
