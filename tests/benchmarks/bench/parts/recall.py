"""What the HNSW index brings at the default breadth of a search, beside comparing all vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.bench.data.homes import stored
from tests.benchmarks.bench.data.library import Floats
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, at_least, judged
from tests.database.chunk_rows import Connection, search_connection

CANDIDATES = 50
_GOAL = at_least(0.98)
_BLOCK = 50_000


def run(bench: Bench) -> Iterator[Row]:
    """Recall@50 of each size: how many of the 50 nearest chunks the vector leg brings."""
    vectors = bench.generator.everyday().vectors
    for size in bench.sizes:
        with stored(bench, size) as store, search_connection(store.dsn) as connection:
            bench.tell(f"recall at {size:,} chunks")
            farthest = nearest_similarities(store.vectors, vectors)[:, -1]
            recalls = [
                recall(connection, store.vectors, vector, least)
                for vector, least in zip(vectors, farthest, strict=True)
            ]
        note = f"{len(vectors)} questions, least {min(recalls):.2f}, exact for {np.mean(np.array(recalls) == 1):.0%}"
        name = f"recall@50 of the vector leg, {size:,} chunks"
        yield judged("recall", name, float(np.mean(recalls)), "", _GOAL, note)


def recall(connection: Connection, stored_vectors: Floats, vector: Floats, least: float) -> float:
    """Share of the 50 that the leg brings and that are at least as similar as the 50th by brute force."""
    rows = connection.execute("select child_id from rag.vector_candidates(%s, %s)", [vector, CANDIDATES]).fetchall()
    near = stored_vectors[[row[0] - 1 for row in rows]] @ vector
    return float(np.sum(near >= least - 1e-6)) / min(CANDIDATES, len(stored_vectors))


def nearest_similarities(
    stored_vectors: Floats, vectors: Floats, count: int = CANDIDATES, block: int = _BLOCK
) -> NDArray[np.float32]:
    """Similarities ``[question_count, count]`` of the nearest chunks by brute force, nearest first."""
    best = np.full((len(vectors), count), -1, dtype=np.float32)
    for start in range(0, len(stored_vectors), block):
        found = vectors @ np.asarray(stored_vectors[start : start + block]).T
        best = -np.sort(-np.concatenate([best, found], axis=1), axis=1)[:, :count]
    return best
