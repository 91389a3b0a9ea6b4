"""What the HNSW index brings at the default breadth of a search, beside comparing all vectors; and what it brings,
takes and saves with two bytes a number instead of four."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.bench.data.fill import Connection
from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.data.library import Floats
from tests.benchmarks.bench.data.typed_chunks import typed_chunks
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, against, at_least, judged, percentile
from tests.database.chunk_rows import search_connection

CANDIDATES = 50
_GOAL = at_least(0.98)
_BLOCK = 50_000
_LEG = "select child_id from rag.vector_candidates(%s, %s)"


def run(bench: Bench) -> Iterator[Row]:
    """Recall@50 of each size: how many of the 50 nearest chunks the vector leg brings; at the smallest, both types."""
    vectors = bench.generator.everyday().vectors
    for size in bench.sizes:
        with stored(bench, size) as store, search_connection(store.dsn) as connection:
            bench.tell(f"recall at {size:,} chunks")
            recalls = _recalls(connection, store.vectors, vectors)
        note = f"{len(vectors)} questions, least {min(recalls):.2f}, exact for {np.mean(np.array(recalls) == 1):.0%}"
        name = f"recall@50 of the vector leg, {size:,} chunks"
        yield judged("recall", name, float(np.mean(recalls)), "", _GOAL, note)
    with stored(bench, bench.sizes[0]) as store:  # building both indexes of 100,000 chunks takes minutes
        yield from _both_types(bench, store, vectors)


def _both_types(bench: Bench, store: Stored, vectors: Floats) -> Iterator[Row]:
    """The same rows and options of the index, with vectors of either type, in databases that hold nothing else."""
    with ExitStack() as stack:
        bench.tell(f"halfvec beside vector, {store.chunks:,} chunks")
        full, half = (
            stack.enter_context(typed_chunks(store, kind, bench.build_memory)) for kind in ("vector", "halfvec")
        )
        recalls = [float(np.mean(_recalls(each.connection, store.vectors, vectors))) for each in (full, half)]
        times = _times(bench, (full.connection, half.connection), vectors)
    at = f"{store.chunks:,} chunks"
    note = f"against full vectors, {half.options}; a vector index built in the same way: {recalls[0]:.4f}"
    yield judged("recall", f"recall@50 of the vector leg with halfvec, {at}", recalls[1], "", _GOAL, note)
    for what, unit, of_half, of_full in (
        ("p50 of the vector leg", "ms", times[1], times[0]),
        ("HNSW index", "MB", half.index_bytes / 1e6, full.index_bytes / 1e6),
        ("rows of the child chunks", "MB", half.table_bytes / 1e6, full.table_bytes / 1e6),
        ("building the HNSW index", "s", half.build_seconds, full.build_seconds),
    ):
        yield against("recall", f"halfvec: {what}, {at}", of_half, unit, "vector", of_full)


def _times(bench: Bench, connections: tuple[Connection, Connection], vectors: Floats) -> list[float]:
    """p50 of the vector leg in ms, by each connection; both are asked each question in turns."""
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(bench.rounds):
        for vector in vectors:
            for connection, times in zip(connections, took, strict=True):
                begun = time.perf_counter()
                connection.execute(_LEG, [vector, CANDIDATES]).fetchall()
                times.append((time.perf_counter() - begun) * 1000)
    return [percentile(times, 0.5) for times in took]


def _recalls(connection: Connection, stored_vectors: Floats, vectors: Floats) -> list[float]:
    brought = [connection.execute(_LEG, [vector, CANDIDATES]).fetchall() for vector in vectors]
    return recall_of_each(stored_vectors, vectors, [[row[0] for row in rows] for rows in brought])


def recall_of_each(stored_vectors: Floats, vectors: Floats, brought: Sequence[Sequence[int]]) -> list[float]:
    """Of each question the share of the 50 that were brought and are at least as similar as the 50th by brute force.

    Args:
        brought: ids of child chunks, one more than their place among ``stored_vectors``.
    """
    farthest, most = nearest_similarities(stored_vectors, vectors)[:, -1], min(CANDIDATES, len(stored_vectors))
    return [
        float(np.sum(stored_vectors[[number - 1 for number in numbers]] @ vector >= least - 1e-6)) / most
        for numbers, vector, least in zip(brought, vectors, farthest, strict=True)
    ]


def nearest_similarities(
    stored_vectors: Floats, vectors: Floats, count: int = CANDIDATES, block: int = _BLOCK
) -> NDArray[np.float32]:
    """Similarities ``[question_count, count]`` of the nearest chunks by brute force, nearest first."""
    best = np.full((len(vectors), count), -1, dtype=np.float32)
    for start in range(0, len(stored_vectors), block):
        found = vectors @ np.asarray(stored_vectors[start : start + block]).T
        best = -np.sort(-np.concatenate([best, found], axis=1), axis=1)[:, :count]
    return best
