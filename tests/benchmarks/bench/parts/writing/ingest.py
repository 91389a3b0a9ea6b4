"""Documents taken in by REST, beside COPY BINARY into the same tables and indexes, and beside what others write.

Everybody writes into a library of the middle size that has its indexes, each document in a transaction, in turns on the
same machine. Fuzi's embedder has its vectors at once. The peers build their HNSW index with pgvector's defaults, which
take half the time of Fuzi's to insert and find less: so Fuzi writes a second time into an index with their options.
Then more documents are taken in while one client searches: what do the searches feel?
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import httpx
import numpy as np
import psycopg

from service.config import DatabaseSettings, Settings
from service.db.migrate import upgrade
from tests.benchmarks.bench.data.fill import Connection
from tests.benchmarks.bench.data.homes import Stored, stored, write_queries
from tests.benchmarks.bench.data.library import Document
from tests.benchmarks.bench.load.served import Served, served
from tests.benchmarks.bench.load.stubbed_serve import STUBBED, TABLE
from tests.benchmarks.bench.load.subject import Contestant, Subject, subject
from tests.benchmarks.bench.load.writers import BATCH, Writer, Written, by_turns, copy, spent, take_in, upload
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.parts.searching.peers import MODULES, chunk_files, open_peers, written_files
from tests.benchmarks.bench.rows import Row, Timing, against, at_least, percentile, shown

_FIRST_NUMBER = 10_000_000
_PEER_DOCUMENTS = 2000
"""More than a peer can write in its time."""
_WARM_DOCUMENTS = 16
"""So many that all connections of the service are open: each loads the Chinese dictionary."""
_FLOOR, _FUZI, _SAME = "COPY BINARY into the same tables and indexes", "Fuzi", "Fuzi, HNSW as the peers'"
_PEERS_M, _PEERS_EF = 16, 64


def run(bench: Bench) -> Iterator[Row]:
    """Chunks a second of everybody, and the searches meanwhile."""
    made = bench.generator.made(seed=21)
    documents = (replace(document, number=_FIRST_NUMBER + n) for n, document in enumerate(made))
    with stored(bench, bench.middle) as store, ExitStack() as stack:
        bench.tell(f"ingest: libraries of {store.chunks:,} chunks to write to")
        same = store.kept("peers_hnsw", partial(_build_as_peers, bench.build_memory))
        ours = stack.enter_context(_fuzi(bench, store, "ingest", None))
        as_peers = stack.enter_context(_fuzi(bench, store, "ingest_same", same))
        peers = stack.enter_context(_peers(bench, store, list(islice(documents, _PEER_DOCUMENTS))))
        writers: dict[str, Writer] = {
            _FLOOR: lambda seconds, _count: copy(ours.url, store.server_pid, documents, seconds),
            _FUZI: lambda _seconds, count: ours.take_in(documents, count),
            _SAME: lambda _seconds, count: as_peers.take_in(documents, count),
            **peers,
        }
        for warm in (ours, as_peers):
            warm.take_in(documents, _WARM_DOCUMENTS)
        bench.tell(f"ingest: {len(writers)} write, in turns")
        # long turns: at the end of each the last jobs run alone
        written = by_turns(writers, _FLOOR, 2 * bench.seconds, bench.rounds)
        yield from _rows(written, f"{store.chunks:,} chunks are there")
        count = -(-written[_FUZI].chunks // (BATCH * bench.rounds))
        yield from _searches_meanwhile(bench, ours, list(islice(documents, count)))


def _rows(written: dict[str, Written], where: str) -> Iterator[Row]:
    floor, fuzi = written[_FLOOR], written[_FUZI]
    settings, note = DatabaseSettings(), f"{fuzi.chunks} chunks in documents of {BATCH}"
    name, processor = f"chunks a second, {where}", f"processor time of a chunk, {where}"
    yield against("ingest", name, fuzi.rate, "chunks/s", _FLOOR, floor.rate, at_least(0.6), note)
    yield against("ingest", processor, fuzi.processor_ms, "ms", _FLOOR, floor.processor_ms)
    yield shown("ingest", f"documents a second, {where}", fuzi.rate / BATCH, "documents/s")
    theirs = f"m {_PEERS_M}, ef_construction {_PEERS_EF}"
    notes = {
        _FUZI: f"as shipped: HNSW m {settings.hnsw_m}, ef_construction {settings.hnsw_ef_construction} beside {theirs}",
        _SAME: f"all with HNSW {theirs}",
    }
    for mine, remark in notes.items():
        for peer in MODULES:
            ours, other = written[mine], written[peer]
            yield against("ingest", name, ours.rate, "chunks/s", peer, other.rate, at_least(5), remark)
            yield against("ingest", processor, ours.processor_ms, "ms", peer, other.processor_ms, None, remark)


@dataclass(frozen=True, slots=True)
class _Fuzi:
    """A service with a library of its own."""

    service: Served
    http: httpx.Client
    url: str
    server_pid: int

    def take_in(self, documents: Iterator[Document], count: int) -> Written:
        """So many documents by REST."""
        return upload(self.http, self.url, (self.service.pid, self.server_pid), documents, count)


@contextmanager
def _fuzi(bench: Bench, store: Stored, name: str, of: str | None) -> Iterator[_Fuzi]:
    home, table = bench.folder / f"{name}-home", bench.folder / "table.npy"
    home.mkdir(exist_ok=True)
    np.save(table, np.asarray(store.vectors[:3000]))
    with store.copied(name, of=of) as url:
        upgrade(url, Settings(_env_file=None))
        settings = {"FUZI_DATABASE__URL": url, TABLE: str(table)}
        with (
            served(home, bench.log, settings, STUBBED) as service,
            httpx.Client(base_url=service.url, timeout=120) as http,
        ):
            yield _Fuzi(service, http, url, store.server_pid)


def _build_as_peers(memory: str, connection: Connection) -> None:
    """Build the HNSW index with the options that LangChain and LlamaIndex use, which are pgvector's."""
    connection.execute(f"set maintenance_work_mem = '{memory}'")
    index = "rag.child_chunk_embedding_hnsw"
    connection.execute(f"alter index {index} set (m = {_PEERS_M}, ef_construction = {_PEERS_EF})")
    connection.execute(f"reindex index {index}")


@contextmanager
def _peers(bench: Bench, store: Stored, documents: list[Document]) -> Iterator[dict[str, Writer]]:
    """The peers' own write calls, a document a call, into a copy of their tables with all that is in the library."""
    files = written_files(bench.folder / "written", documents, _FIRST_NUMBER)
    for name in MODULES:
        bench.tell(f"ingest: {name} gets its {store.chunks:,} chunks")
        with open_peers(bench, store)[f"{name}, as shipped"] as peer:
            peer.ask(do="fill", **chunk_files(store))
    with store.copied("peers_written", of="peers"), ExitStack() as stack:
        opened = open_peers(bench, store, "peers_written")
        yield {
            name: _peer(stack.enter_context(opened[f"{name}, as shipped"]), store, files, chunk_files(store))
            for name in MODULES
        }


def _peer(peer: Subject, store: Stored, files: dict[str, Any], library: dict[str, str]) -> Writer:
    done = 0

    def write(seconds: float, _documents: int) -> Written:
        nonlocal done
        with spent(peer.pid, store.server_pid) as so_far:
            answer = peer.ask(do="write", **files, skip=done, seconds=seconds)
            done += answer["chunks"]
            return Written(answer["chunks"], answer["seconds"], so_far())

    peer.ask(do="fill", **library)
    write(0, 1)  # one batch, for which it connects
    return write


def _searches_meanwhile(bench: Bench, fuzi: _Fuzi, documents: list[Document]) -> Iterator[Row]:
    texts, _ = write_queries(bench.folder, bench.generator.everyday())
    address = {"host": fuzi.service.host, "port": fuzi.service.port, "queries": str(texts)}
    with subject("tests.benchmarks.bench.load.http_load", log=bench.log, **address) as load:
        search = Contestant(load, {"body": {"rerank": False}})
        bench.tell("ingest: searches before, meanwhile and after")
        idle = search.measure(1, bench.seconds / 2)
        done, busy = threading.Event(), list[Timing]()

        def work() -> None:
            try:
                with psycopg.connect(fuzi.url, autocommit=True) as connection:
                    take_in(fuzi.http, connection, documents)
            finally:
                done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            busy.append(search.measure(1, min(1, bench.seconds / 2)))
        thread.join()
        idle += search.measure(1, bench.seconds / 2)
    times = [each for timing in busy for each in timing.milliseconds]
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        meanwhile, before = percentile(times, share), percentile(idle.milliseconds, share)
        yield against("ingest", f"search {name} while ingesting, one client", meanwhile, "ms", "idle", before)
