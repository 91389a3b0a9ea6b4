"""Whether a filter that lets 0.2 % of many chunks through still finds the right ones, and what it costs.

    .venv/bin/python -m tests.benchmarks.filter_benchmark [--chunks 100000]

Fills an embedded PostgreSQL of its own by COPY: vectors in clusters, texts of recombined sentences of laws. The
documents of the filter lie far from every query, which is where filters on approximate indexes come back empty.
Asserts that a search for five passages gets five, that the vector leg brings exactly what comparing all vectors brings,
and the fts leg exactly the best eligible of what BM25 says of all chunks. A filter of 30 % is asked as well: when it
leaves more than 20,000 chunks the HNSW index answers, so its recall is only printed. At last a very long query.
``tests/database/search/test_filter_scale.py`` does the same with few chunks.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from service.config import DatabaseSettings, SearchSettings, Settings
from service.db.embedded import EmbeddedServer
from service.db.engine import create_engine
from service.db.migrate import upgrade
from service.db.spaces import reading
from service.retrieve import look_around, resolve_scope
from service.retrieve.query_text import fts_query_text
from service.types import DocumentFilter, SearchRequest
from tests.benchmarks.bench.data.fill import Keys, without_search_indexes, write
from tests.benchmarks.bench.data.library import Document, document_id
from tests.benchmarks.bench.data.sentences import Floats
from tests.benchmarks.bench.data.sentences import sentences as sentences_of
from tests.database.chunk_rows import DIMENSION, Connection, collection, search_connection

OF_DOCUMENT, OF_PARENT = 10, 2
"""Child chunks of a document, and of a parent chunk."""
RARE_EVERY, CLUSTERS = 500, 40
CANDIDATES, TOP_N = 50, 5
RARE, BROAD = {"dept": "法务"}, {"share": {"$lt": 3}}


@dataclass(frozen=True, slots=True)
class Stored:
    """What was written; chunk n is of document n // OF_DOCUMENT. ``vectors [chunk_count, DIMENSION]``, length 1."""

    vectors: Floats
    child_ids: list[int]
    document_ids: list[UUID]
    sentences: list[str]
    centres: Floats

    def eligible(self, expression: dict[str, Any]) -> list[int]:
        """Chunks that a filter lets through, by the rule they were made by."""
        is_rare = expression is RARE
        chunks = ((chunk, chunk // OF_DOCUMENT) for chunk in range(len(self.child_ids)))
        return [chunk for chunk, n in chunks if (n % RARE_EVERY == 0 if is_rare else n % 10 < 3)]

    def query(self, number: int) -> tuple[str, Floats]:
        """A text of words that many chunks have, and a vector in a cluster that has no chunk of the rare filter."""
        dice = np.random.default_rng(number)
        sentence = self.sentences[number % len(self.sentences)]
        return sentence[:16], _unit(self.centres[1 + number % (CLUSTERS - 1)] + dice.normal(0, 0.03, DIMENSION))


def fill(connection: Connection, chunks: int) -> Stored:
    """Write so many chunks, a multiple of OF_DOCUMENT; their search indexes are built afterwards, which is faster."""
    dice = np.random.default_rng(7)
    centres = _unit(dice.normal(size=(CLUSTERS, DIMENSION)))
    documents = chunks // OF_DOCUMENT
    of_cluster = [0 if n % RARE_EVERY == 0 else int(dice.integers(1, CLUSTERS)) for n in range(documents)]
    vectors = _unit(centres[np.repeat(of_cluster, OF_DOCUMENT)] + dice.normal(0, 0.05, (chunks, DIMENSION)))
    sentences = list(itertools.islice(sentences_of("laws"), 2000))
    picks = dice.integers(len(sentences), size=(chunks, 2))
    texts = [sentences[first] + sentences[second] for first, second in picks]
    with without_search_indexes(connection, "1GB"), connection.transaction():
        write(connection, collection(connection, "scale"), list(_documents(texts, vectors)), Keys())
    connection.execute("analyze")
    document_ids = [document_id(n) for n in range(documents)]
    return Stored(vectors, list(range(1, chunks + 1)), document_ids, sentences, centres)


def _documents(texts: list[str], vectors: Floats) -> Iterator[Document]:
    for n, first in enumerate(range(0, len(texts), OF_DOCUMENT)):
        starts = range(first, first + OF_DOCUMENT, OF_PARENT)
        parents = tuple(tuple(texts[start : start + OF_PARENT]) for start in starts)
        metadata = {"dept": "法务" if n % RARE_EVERY == 0 else "其他", "share": n % 10}
        yield Document(n, f"{n}.txt", parents, vectors[first : first + OF_DOCUMENT], metadata)


def _unit(vectors: NDArray[Any]) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), dtype=np.float32)


async def scope_of(dsn: str, expression: dict[str, Any]) -> tuple[list[UUID], float]:
    """Documents that the service resolves a filter to, and the median of ten times in ms."""
    engine = create_engine(dsn, DatabaseSettings(), SearchSettings())
    request = SearchRequest("x", TOP_N, CANDIDATES, 70, 30, 60, filters=DocumentFilter(metadata=expression))
    times = list[float]()
    try:
        async with reading(engine) as connection:
            around = await look_around(connection, request)
            for _ in range(10):
                begin = time.perf_counter()
                scope = await resolve_scope(connection, request, around)
                times.append((time.perf_counter() - begin) * 1000)
    finally:
        await engine.dispose()
    return list(scope.document_ids or ()), statistics.median(times)


class Looked:
    """Asks both legs and the whole for one query after the other, times them, and compares with brute force."""

    def __init__(self, connection: Connection, stored: Stored, expression: dict[str, Any], scope: list[UUID]) -> None:
        self._connection, self._stored, self._scope = connection, stored, scope
        self.eligible = stored.eligible(expression)
        assert {stored.document_ids[n // OF_DOCUMENT] for n in self.eligible} == set(scope)
        self.recalls = list[float]()
        self.times: dict[str, list[float]] = {"vector leg": [], "fts leg": [], "hybrid": []}

    def ask(self, number: int) -> None:
        """One query; everything but the recall of the vector leg is asserted."""
        words, vector = self._stored.query(number)
        numbers = [vector, CANDIDATES, self._scope]
        near = self._timed(
            "vector leg", "select child_id, vector_distance from rag.vector_candidates(%s, %s, null, %s)", numbers
        )
        found = self._timed(
            "fts leg", "select child_id, fts_score from rag.fts_candidates(%s, %s, null, %s)", [words, *numbers[1:]]
        )
        parents = self._timed(
            "hybrid",
            "select distinct parent_id from rag.hybrid_search(%s, %s, %s, %s, document_ids => %s)",
            [words, vector, TOP_N, *numbers[1:]],
        )
        assert len(parents) == TOP_N
        assert {row[0] for row in parents} <= {n // OF_PARENT + 1 for n in self.eligible}
        self._compare_distances(vector, near)
        self._compare_scores(words, found)

    def _compare_distances(self, vector: Floats, near: list[tuple[int, float]]) -> None:
        chunks = self._stored.vectors[self.eligible].astype(np.float64)
        distances = dict(zip((n + 1 for n in self.eligible), 1 - chunks @ vector.astype(np.float64), strict=True))
        best = sorted(distances.values())[:CANDIDATES]
        assert len(near) == len(best)
        # ids are those of brute force, but for chunks that are equally far in the precision of a vector
        assert np.allclose([distances[child] for child, _ in near], [distance for _, distance in near], atol=1e-5)
        self.recalls.append(sum(distance <= best[-1] + 1e-6 for _, distance in near) / len(best))

    def _compare_scores(self, words: str, found: list[tuple[int, float]]) -> None:
        every = self._connection.execute(
            "select child_id, fts_score from rag.fts_candidates(%s, %s)", [words, len(self._stored.child_ids)]
        ).fetchall()
        eligible = {n + 1 for n in self.eligible}
        scores = {child: score for child, score in every if child in eligible}
        assert [score for _, score in found] == sorted(scores.values(), reverse=True)[:CANDIDATES]
        assert all(scores[child] == score for child, score in found)

    def _timed(self, name: str, statement: LiteralString, values: list[Any]) -> list[Any]:
        begin = time.perf_counter()
        rows = self._connection.execute(statement, values).fetchall()
        self.times[name].append((time.perf_counter() - begin) * 1000)
        return rows

    def told(self) -> str:
        """Medians of the times, and the recall of the vector leg."""
        medians = ", ".join(f"{name} {statistics.median(times):.1f}" for name, times in self.times.items())
        recall = f"median {statistics.median(self.recalls):.3f}, least {min(self.recalls):.3f}"
        return f"p50 in ms: {medians}; recall of the vector leg: {recall}"


def _long_query(connection: Connection, stored: Stored, characters: int = 4400) -> None:
    text = "".join(stored.sentences[100:400])[:characters]
    ask = "select count(*) from rag.fts_candidates(%s, 50)"
    for name, words in (("whole", text), ("as the service asks it", fts_query_text(text))):
        times = list[float]()
        for _ in range(3):
            begin = time.perf_counter()
            connection.execute(ask, [words])
            times.append((time.perf_counter() - begin) * 1000)
        print(f"fts leg, query of {characters} characters, {name} ({len(words)}): {statistics.median(times):.0f} ms")


def run(dsn: str, chunks: int, queries: int) -> None:
    with search_connection(dsn) as connection:
        connection.execute("set statement_timeout = 0")
        begin = time.perf_counter()
        stored = fill(connection, chunks)
        print(f"{chunks:,} chunks written and indexed in {time.perf_counter() - begin:.0f} s", flush=True)
        for name, expression in (("0.2 %", RARE), ("30 %", BROAD)):
            scope, resolving = asyncio.run(scope_of(dsn, expression))
            looked = Looked(connection, stored, expression, scope)
            for number in range(queries):
                looked.ask(number)
            print(
                f"{name}: {len(looked.eligible):,} eligible chunks; scope {resolving:.1f} ms, {looked.told()}",
                flush=True,
            )
            assert expression is BROAD or min(looked.recalls) == 1
        _long_query(connection, stored)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000, help="child chunks, a multiple of 5,000 (100,000)")
    parser.add_argument("--queries", type=int, default=20, help="queries of each filter (20)")
    arguments = parser.parse_args()
    os.nice(10)
    home = Path(tempfile.mkdtemp(prefix="fuzi-filter-"))
    home.chmod(0o711)
    try:
        dsn = EmbeddedServer(home).start().dsn
        upgrade(dsn, Settings(_env_file=None))
        run(dsn, arguments.chunks, arguments.queries)
    finally:
        EmbeddedServer(home).stop()
        shutil.rmtree(home, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
