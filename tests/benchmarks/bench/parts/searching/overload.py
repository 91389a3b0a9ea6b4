"""More searches than the machine carries: who is refused, how long the accepted take, does it recover?"""

from __future__ import annotations

import statistics
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from tests.benchmarks.bench.data.homes import stored
from tests.benchmarks.bench.load.contest import contest
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, against, at_least, at_most, judged, percentile, shown

CLIENTS = 256
_PAUSE = 0.05
"""Seconds a refused client waits, much less than `Retry-After` asks for: it is to hurt."""
_REFUSED = {"503", "429"}
_LONGEST_SECONDS = 10


def run(bench: Bench) -> Iterator[Row]:
    """Rows at the smallest size; the machine's limit is its cores, not the library."""
    with stored(bench, bench.sizes[0]) as store, contest(bench, store, bench.generator.everyday()) as asking:
        bench.tell(f"overload: {CLIENTS} clients")
        before = asking.rest(rerank=False).measure(1, bench.seconds / 2)
        with _health(asking.service.url) as health:
            answer = asking.http.ask(
                do="load", clients=CLIENTS, seconds=2 * bench.seconds, pause=_PAUSE, body={"rerank": False}
            )
        after = asking.rest(rerank=False).measure(1, bench.seconds / 2)
    outcomes: dict[str, list[float]] = answer["milliseconds"]
    accepted = outcomes.get("ok", [])
    counts = {outcome: len(times) for outcome, times in outcomes.items()}
    total, refused = sum(counts.values()), sum(counts.get(status, 0) for status in _REFUSED)
    where, told = f"{CLIENTS} clients", ", ".join(f"{outcome}: {count}" for outcome, count in counts.items())
    yield shown("overload", f"share of refused searches, {where}", refused / total, "", note=told)
    proper = (len(accepted) + refused) / total
    yield judged("overload", "answers that are results, or 503/429 with Retry-After", proper, "", at_least(1))
    seconds = percentile(accepted, 0.99) / 1000
    yield judged("overload", f"accepted searches: p99, {where}", seconds, "s", at_most(_LONGEST_SECONDS))
    rates = len(accepted) / answer["seconds"], before.throughput
    yield against("overload", f"accepted searches: rate, {where}", rates[0], "queries/s", "one client", rates[1])
    note = f"{len(health)} requests, median {statistics.median(health) * 1000:.0f} ms"
    yield judged("overload", "slowest /healthz meanwhile", max(health), "s", at_most(1), note)
    yield against("overload", "p50 afterwards, one client", after.p50, "ms", "before", before.p50, at_most(1.5))


@contextmanager
def _health(url: str) -> Iterator[list[float]]:
    """Seconds of `GET /healthz`, five a second, each on a connection of its own; a failure counts as 60."""
    seconds, stop = list[float](), threading.Event()

    def ask() -> None:
        while not stop.wait(0.2):
            begin = time.perf_counter()
            try:
                with urllib.request.urlopen(f"{url}/healthz", timeout=60) as answer:
                    answer.read()
                seconds.append(time.perf_counter() - begin)
            except OSError:
                seconds.append(60)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seconds
    finally:
        stop.set()
        thread.join()
