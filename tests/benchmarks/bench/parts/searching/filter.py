"""Searches that a filter narrows to half, 5 %, 0.5 % and 0.05 % of the library: how long, how right, how many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.data.library import NUMBERS, Floats, document_id
from tests.benchmarks.bench.load.contest import contest
from tests.benchmarks.bench.load.subject import side_by_side
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.parts.searching.recall import CANDIDATES
from tests.benchmarks.bench.rows import Row, against, at_least, judged
from tests.database.chunk_rows import search_connection

SHARES = {"50 %": 1000, "5 %": 100, "0.5 %": 10, "0.05 %": 1}
_QUESTIONS = 100
_OPEN = "search without a filter"


def run(bench: Bench) -> Iterator[Row]:
    """Rows of each share of the middle size, with one client."""
    asked = bench.generator.everyday()
    with stored(bench, bench.middle) as store, contest(bench, store, asked) as asking:
        number_of = _document_numbers(store)
        for share, below in SHARES.items():
            bench.tell(f"filter: {share} of {store.chunks:,} chunks")
            eligible = np.flatnonzero(number_of % NUMBERS < below)
            documents = [str(document_id(int(n))) for n in np.unique(number_of[eligible])]
            filters = {"metadata": {"n": {"$lt": below}}}
            timings = side_by_side(
                {
                    "filtered": asking.rest(rerank=False, filters=filters),
                    "floor": asking.statement("hybrid", documents=documents),
                    _OPEN: asking.rest(rerank=False),
                },
                1,
                bench.seconds,
                bench.rounds,
            )
            name, timing = f"{share} of {store.chunks:,} chunks", timings["filtered"]
            note = f"{len(eligible):,} chunks of {len(documents):,} documents, p95 {timing.p95:.1f}"
            floor = "rag.hybrid_search with their ids"
            yield against("filter", f"p50, {name}", timing.p50, "ms", floor, timings["floor"].p50, note=note)
            yield against("filter", f"p50, {name}", timing.p50, "ms", _OPEN, timings[_OPEN].p50)
            recalls, complete = _found(store, asked.vectors[:_QUESTIONS], eligible, documents)
            yield judged("filter", f"recall@50 of the vector leg, {name}", recalls, "", at_least(0.98))
            yield judged("filter", f"searches that got all they asked for, {name}", complete, "", at_least(1))


def _document_numbers(store: Stored) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The number of the document of each chunk, in the order of the library."""
    with search_connection(store.dsn) as connection:
        rows = connection.execute("select document_id from rag.child_chunk order by id").fetchall()
    return np.array([row[0].int - 1 for row in rows])


def _found(store: Stored, vectors: Floats, eligible: np.ndarray, documents: list[str]) -> tuple[float, float]:
    """Recall against brute force, and the share of questions for which the leg brought as many as there are."""
    chunks = np.asarray(store.vectors[eligible])
    wanted, recalls, complete = min(CANDIDATES, len(eligible)), list[float](), 0
    with search_connection(store.dsn) as connection:
        for vector in vectors:
            least = np.sort(chunks @ vector)[-wanted]
            rows = connection.execute(
                "select child_id from rag.vector_candidates(%s, %s, null, %s::uuid[])", [vector, CANDIDATES, documents]
            ).fetchall()
            near = store.vectors[[row[0] - 1 for row in rows]] @ vector
            recalls.append(float(np.sum(near >= least - 1e-6)) / wanted)
            complete += len(rows) == wanted
    return float(np.mean(recalls)), complete / len(vectors)
