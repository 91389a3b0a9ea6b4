"""`POST /v1/search` over real HTTP, beside the statement that it runs, at every size and number of clients."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.load.contest import Contest, contest
from tests.benchmarks.bench.load.drive import WARM_UP
from tests.benchmarks.bench.load.processor import processor_seconds
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
        with stored(bench, size) as store, contest(bench, store, bench.generator.everyday()) as asking:
            contestants = {
                WITHOUT: asking.rest(rerank=False),
                LOCAL: asking.rest(rerank=True),
                FLOOR: asking.statement("hybrid"),
            }
            for clients in CLIENTS:
                bench.tell(f"search: {size:,} chunks, {clients} clients")
                timings = side_by_side(contestants, clients, bench.seconds, bench.rounds)
                fastest.setdefault(size, timings)
                yield from _rows(f"{size:,} chunks, {clients} client{'s' if clients > 1 else ''}", clients, timings)
            yield from _steps(asking, size)
            yield from _processor(asking, store, bench.seconds)
    small, large = min(bench.sizes), max(bench.sizes)
    if small < large:
        for name in (WITHOUT, FLOOR):
            slow, fast = fastest[large][name].p50, fastest[small][name].p50
            goal = _GROWTH if name == WITHOUT else None
            yield against("search", f"{name}: p50 at {large:,}", slow, "ms", f"at {small:,}", fast, goal)


def _steps(asking: Contest, size: int) -> Iterator[Row]:
    """Where the time goes: each question once, one after the other; what the service says, and what the client saw."""
    for name, rerank in ((WITHOUT, False), (LOCAL, True)):
        medians = asking.http.ask(do="all", body={"rerank": rerank})["medians"]
        outside = medians.pop("outside_ms")
        for step, milliseconds in medians.items():
            title = f"{name}: {step.removesuffix('_ms')}, {size:,} chunks"
            yield against("search", title, milliseconds, "ms", "seen by the client", outside)


def _processor(asking: Contest, store: Stored, seconds: float) -> Iterator[Row]:
    """Processor time of one search: neighbours on the machine hardly change it, unlike the time that passes."""
    found = dict[str, tuple[float, float]]()
    for name, contestant in ((WITHOUT, asking.rest(rerank=False)), (FLOOR, asking.statement("hybrid"))):
        before = processor_seconds(asking.service.pid), processor_seconds(store.server_pid)
        count = len(contestant.measure(1, seconds).milliseconds) + WARM_UP
        after = processor_seconds(asking.service.pid), processor_seconds(store.server_pid)
        service, server = ((end - start) / count * 1000 for start, end in zip(before, after, strict=True))
        found[name] = service, server
    where, floor = f"{store.chunks:,} chunks", found[FLOOR][1]
    yield against("search", f"{WITHOUT}: processor time, fuzi serve, {where}", found[WITHOUT][0], "ms", FLOOR, floor)
    yield against("search", f"{WITHOUT}: processor time, PostgreSQL, {where}", found[WITHOUT][1], "ms", FLOOR, floor)


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
