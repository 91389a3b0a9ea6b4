"""Documents taken in by REST, beside COPY BINARY into the same tables and indexes, and beside what others write.

Every contestant writes into a library of the middle size that has its indexes, each document in a transaction. Fuzi's
embedder has its vectors at once. A second batch is taken in while one client searches: what do the searches feel?
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from service.config import JobSettings
from tests.benchmarks.bench.data.fill import Keys, write
from tests.benchmarks.bench.data.homes import Stored, stored, write_queries
from tests.benchmarks.bench.data.library import Document
from tests.benchmarks.bench.load.served import Served, served
from tests.benchmarks.bench.load.stubbed_serve import TABLE
from tests.benchmarks.bench.load.subject import Contestant, subject
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.parts.peers import MODULES, chunk_files, open_peers
from tests.benchmarks.bench.rows import Row, Timing, against, at_least, percentile, shown

_DOCUMENTS, _QUICK_DOCUMENTS = 150, 20
_UPLOADS_AT_ONCE = 8
_FIRST_NUMBER = 10_000_000
_STUBBED = (sys.executable, "-m", "tests.benchmarks.bench.load.stubbed_serve")
_FLOOR = "COPY BINARY into the same tables and indexes"


def run(bench: Bench) -> Iterator[Row]:
    """Chunks a second of everybody, and the searches meanwhile."""
    count = _QUICK_DOCUMENTS if bench.quick else _DOCUMENTS
    made = islice(bench.generator.made(seed=21), 2 * count)
    documents = [replace(document, number=_FIRST_NUMBER + n) for n, document in enumerate(made)]
    with stored(bench, bench.middle) as store:
        bench.tell(f"ingest: COPY of {count} documents into {store.chunks:,} chunks")
        with store.copied("ingest_floor") as url:
            floor = _copy(url, documents[:count], store)
        where = f"{store.chunks:,} chunks are there"
        with (
            store.copied("ingest_fuzi") as url,
            _service(bench, store, url) as service,
            httpx.Client(base_url=service.url, timeout=120) as http,
        ):
            bench.tell(f"ingest: {count} documents by REST")
            chunks, seconds = _ours(http, url, documents[:count])
            rate, note = chunks / seconds, f"{count} documents, {chunks} chunks"
            yield against("ingest", f"chunks a second, {where}", rate, "chunks/s", _FLOOR, floor, at_least(0.6), note)
            yield shown("ingest", f"documents a second, {where}", count / seconds, "documents/s")
            yield from _searches_meanwhile(bench, service, http, documents[count:])
        for name, others in _others(bench, store, documents[:count]):
            yield against("ingest", f"chunks a second, {where}", rate, "chunks/s", name, others, at_least(5))


def _ours(http: httpx.Client, url: str, documents: list[Document]) -> tuple[int, float]:
    """Chunks that were made of the documents, and the seconds it took."""
    with psycopg.connect(url, autocommit=True) as connection:
        before = _chunks(connection)
        seconds = _take_in(http, documents)
        return _chunks(connection) - before, seconds


def _searches_meanwhile(bench: Bench, service: Served, http: httpx.Client, documents: list[Document]) -> Iterator[Row]:
    texts, _ = write_queries(bench.folder, bench.generator.everyday())
    address = {"host": service.host, "port": service.port, "queries": str(texts)}
    with subject("tests.benchmarks.bench.load.http_load", log=bench.log, **address) as load:
        search = Contestant(load, {"body": {"rerank": False}})
        bench.tell("ingest: searches before, meanwhile and after")
        idle = search.measure(1, bench.seconds / 2)
        done, busy = threading.Event(), list[Timing]()

        def take_in() -> None:
            try:
                _take_in(http, documents)
            finally:
                done.set()

        thread = threading.Thread(target=take_in)
        thread.start()
        while not done.is_set():
            busy.append(search.measure(1, 1))
        thread.join()
        idle += search.measure(1, bench.seconds / 2)
    times = [each for timing in busy for each in timing.milliseconds]
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        meanwhile, before = percentile(times, share), percentile(idle.milliseconds, share)
        yield against("ingest", f"search {name} while ingesting, one client", meanwhile, "ms", "idle", before)


def _others(bench: Bench, store: Stored, documents: list[Document]) -> Iterator[tuple[str, float]]:
    """Chunks a second by the peers' own write calls, a document a call, into a copy of their tables."""
    folder = bench.folder / "written"
    folder.mkdir(exist_ok=True)
    rows = [{"text": text, "source": each.source} for each in documents for text in each.texts]
    chunks, vectors = folder / "chunks.jsonl", folder / "chunks.npy"
    chunks.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    np.save(vectors, np.concatenate([each.vectors for each in documents]))
    peers = open_peers(bench, store)
    for name in MODULES:
        bench.tell(f"ingest: {name} writes {len(rows)} chunks")
        with peers[f"{name}, as shipped"] as peer:
            peer.ask(do="fill", **chunk_files(store))
        with (
            store.copied("peers_written", of="peers"),
            open_peers(bench, store, "peers_written")[f"{name}, as shipped"] as peer,
        ):
            peer.ask(do="fill", **chunk_files(store))
            begin = time.perf_counter()
            batch = len(documents[0].texts)
            peer.ask(do="write", chunks=str(chunks), vectors=str(vectors), first=_FIRST_NUMBER, batch=batch)
            seconds = time.perf_counter() - begin
        yield name, len(rows) / seconds


@contextmanager
def _service(bench: Bench, store: Stored, url: str) -> Iterator[Served]:
    home = bench.folder / "ingest-home"
    home.mkdir(exist_ok=True)
    settings = {"FUZI_DATABASE__URL": url, TABLE: str(_table(bench, store))}
    with served(home, bench.log, settings, _STUBBED) as service:
        yield service


def _table(bench: Bench, store: Stored) -> Path:
    file = bench.folder / "table.npy"
    np.save(file, np.asarray(store.vectors[:3000]))
    return file


def _take_in(http: httpx.Client, documents: list[Document]) -> float:
    """Seconds from the first upload until no job is left."""

    def upload(document: Document) -> None:
        content = "\n".join("".join(children) for children in document.parents).encode()
        files = {"file": (f"{document.number}.txt", content, "text/plain")}
        http.post("/v1/documents", files=files).raise_for_status()

    begin = time.perf_counter()
    with ThreadPoolExecutor(_UPLOADS_AT_ONCE) as pool:
        list(pool.map(upload, documents))
    while http.get("/v1/jobs", params={"unfinished": "true", "limit": 1}).json()["total"]:
        time.sleep(0.05)
    return time.perf_counter() - begin


def _copy(url: str, documents: list[Document], store: Stored) -> float:
    """Chunks a second of as many connections as Fuzi has jobs at once, each document in a transaction."""
    connections = JobSettings().concurrency
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select max(p.id), max(c.id) from rag.parent_chunk as p, rag.child_chunk as c"
        ).fetchone()
    assert row is not None

    def one(place: int, connection: psycopg.Connection[Any]) -> int:
        # each connection has keys of its own
        keys = Keys(row[0] + 1 + place * 10**6, row[1] + 1 + place * 10**6)
        part = documents[place::connections]
        for document in part:
            with connection.transaction():
                write(connection, 1, [document], keys)
        return sum(len(document.texts) for document in part)

    with ExitStack() as stack, ThreadPoolExecutor(connections) as pool:
        opened = [stack.enter_context(_warm(url)) for _ in range(connections)]
        begin = time.perf_counter()
        chunks = sum(pool.map(one, range(connections), opened))
        return chunks / (time.perf_counter() - begin)


@contextmanager
def _warm(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection that has loaded the Chinese dictionary."""
    with psycopg.connect(url, autocommit=True) as connection:
        register_vector(connection)
        connection.execute("select count(*) from rag.fts_candidates('中文', 1)")
        yield connection


def _chunks(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("select count(*) from rag.child_chunk").fetchone()
    assert row is not None
    return int(row[0])
