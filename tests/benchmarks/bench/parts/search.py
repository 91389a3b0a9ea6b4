"""`POST /v1/search` over real HTTP, beside the statement that it runs, at every size and number of clients."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.bench.data.homes import stored
from tests.benchmarks.bench.load.contest import contest
from tests.benchmarks.bench.load.subject import side_by_side
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, Timing, against, at_least, at_most, shown

CLIENTS = (1, 8, 32)
WITHOUT, LOCAL, FLOOR = "search, no reranking", "search, local reranker", "rag.hybrid_search by psycopg"
_OVERHEAD, _SHARE, _GROWTH = at_most(1.5), at_least(0.6), at_most(5)


def run(bench: Bench) -> Iterator[Row]:
    """Rows of all sizes, then how much slower the largest is than the smallest."""
    fastest: dict[int, dict[str, Timing]] = {}
    for size in bench.sizes:
        for clients, timings in _measure(bench, size):
            if clients == 1:
                fastest[size] = timings
            yield from _rows(f"{size:,} chunks, {clients} client{'s' if clients > 1 else ''}", clients, timings)
    small, large = min(bench.sizes), max(bench.sizes)
    if small < large:
        for name in (WITHOUT, FLOOR):
            slow, fast = fastest[large][name].p50, fastest[small][name].p50
            goal = _GROWTH if name == WITHOUT else None
            yield against("search", f"{name}: p50 at {large:,}", slow, "ms", f"at {small:,}", fast, goal)


def _measure(bench: Bench, size: int) -> Iterator[tuple[int, dict[str, Timing]]]:
    with stored(bench, size) as store, contest(bench, store, bench.generator.everyday()) as asking:
        contestants = {
            WITHOUT: asking.rest(rerank=False),
            LOCAL: asking.rest(rerank=True),
            FLOOR: asking.statement("hybrid"),
        }
        for clients in CLIENTS:
            bench.tell(f"search: {size:,} chunks, {clients} clients")
            yield clients, side_by_side(contestants, clients, bench.seconds)


def _rows(where: str, clients: int, timings: dict[str, Timing]) -> Iterator[Row]:
    floor = timings[FLOOR]
    for name in (WITHOUT, LOCAL):
        timing, judged = timings[name], name == WITHOUT
        tail = f"p95 {timing.p95:.1f}, p99 {timing.p99:.1f}; floor p95 {floor.p95:.1f}, p99 {floor.p99:.1f}"
        goal = _OVERHEAD if judged and clients == 1 else None
        yield against("search", f"{name}: p50, {where}", timing.p50, "ms", FLOOR, floor.p50, goal, tail)
        share = _SHARE if judged and clients == 8 else None
        rates = timing.throughput, floor.throughput
        yield against("search", f"{name}: rate, {where}", rates[0], "queries/s", FLOOR, rates[1], share)
    yield shown("search", f"{FLOOR}: p50, {where}", floor.p50, "ms")
