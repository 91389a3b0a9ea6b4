"""Searches right after many small writes, beside pg_search with the options it comes with, written the same way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from tests.benchmarks.bench.data.fill import Keys, write
from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.data.library import Document
from tests.benchmarks.bench.load.contest import contest
from tests.benchmarks.bench.load.subject import Contestant, Subject, side_by_side
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.parts.searching.peers import DEFAULTS, chunk_files, open_peers
from tests.benchmarks.bench.rows import Row, against, at_least, at_most

_DOCUMENTS, _QUICK_DOCUMENTS = 300, 20
_FIRST_NUMBER = 20_000_000
_OURS, _SETTLED = "Fuzi, fresh rows", "Fuzi before"


def run(bench: Bench) -> Iterator[Row]:
    """6,000 chunks in 300 transactions, then searches at once."""
    count = _QUICK_DOCUMENTS if bench.quick else _DOCUMENTS
    made = islice(bench.generator.made(seed=31), count)
    documents = [replace(document, number=_FIRST_NUMBER + n) for n, document in enumerate(made)]
    chunks = sum(len(document.texts) for document in documents)
    home = bench.folder / "fresh-home"
    home.mkdir(exist_ok=True)
    asked = bench.generator.everyday()
    with (
        stored(bench, bench.middle) as store,
        store.copied("fresh") as url,
        _filled_copy(bench, store) as peer,
        contest(bench, store, asked, database=url, home=home) as asking,
    ):
        peer.ask(do="questions", queries=str(asking.queries), vectors=str(asking.vectors))
        before = asking.rest(rerank=False).measure(1, bench.seconds)
        bench.tell(f"fresh: both get {chunks:,} chunks in {count} transactions")
        _write(url, documents)
        peer.ask(do="write", **_files(bench, documents), first=_FIRST_NUMBER, batch=chunks // count)
        bench.tell("fresh: searches")
        contestants = {
            _OURS: asking.rest(rerank=False),
            DEFAULTS: Contestant(peer, {"what": "hybrid"}),
        }
        where = f"{chunks:,} fresh of {store.chunks + chunks:,} chunks"
        for clients in (1, 8):
            timings = side_by_side(contestants, clients, bench.seconds, bench.rounds)
            mine, theirs = timings[_OURS], timings[DEFAULTS]
            name = f"{where}, {clients} client{'s' if clients > 1 else ''}"
            goals = (at_most(0.02), None) if clients == 1 else (None, at_least(50))
            yield against("fresh", f"p50, {name}", mine.p50, "ms", DEFAULTS, theirs.p50, goals[0])
            yield against("fresh", f"rate, {name}", mine.throughput, "queries/s", DEFAULTS, theirs.throughput, goals[1])
            if clients == 1:
                yield against("fresh", f"p50, {name}", mine.p50, "ms", _SETTLED, before.p50)


@contextmanager
def _filled_copy(bench: Bench, store: Stored) -> Iterator[Subject]:
    """pg_search with the rows of the library, in a copy of its database, since it is written to."""
    bench.tell(f"fresh: pg_search gets its {store.chunks:,} chunks")
    with open_peers(bench, store)[DEFAULTS] as peer:
        peer.ask(do="fill", **chunk_files(store))
    with store.copied("peers_fresh", of="peers"), open_peers(bench, store, "peers_fresh")[DEFAULTS] as peer:
        yield peer


def _write(url: str, documents: list[Document]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        register_vector(connection)
        row = connection.execute(
            "select (select max(id) from rag.parent_chunk), (select max(id) from rag.child_chunk)"
        ).fetchone()
        assert row is not None
        keys = Keys(row[0] + 1, row[1] + 1)
        for document in documents:
            with connection.transaction():
                write(connection, 1, [document], keys)


def _files(bench: Bench, documents: list[Document]) -> dict[str, str]:
    folder = bench.folder / "fresh"
    folder.mkdir(exist_ok=True)
    chunks, vectors = folder / "chunks.jsonl", folder / "chunks.npy"
    rows = [{"text": text, "source": each.source} for each in documents for text in each.texts]
    chunks.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    np.save(vectors, np.concatenate([each.vectors for each in documents]))
    return {"chunks": str(chunks), "vectors": str(vectors)}
