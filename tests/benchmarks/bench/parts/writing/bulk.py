"""An archive with its vectors into an empty library, beside everybody who writes the same chunks one after another.

`fuzi import` sets the HNSW index of an empty library aside, and builds it over all vectors at the end. The others write
into tables that have their indexes, as they do while an application runs: Fuzi by REST, COPY BINARY, the peers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import httpx
import numpy as np
import psycopg

from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.data.library import Document
from tests.benchmarks.bench.load.served import served
from tests.benchmarks.bench.load.stubbed_serve import STUBBED, TABLE
from tests.benchmarks.bench.load.writers import BATCH, Written, copy, take_in
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.parts.searching.peers import MODULES, open_peers, written_files
from tests.benchmarks.bench.rows import Row, against, at_least, shown

_DOCUMENTS, _FEW_DOCUMENTS = 400, 20
_PATIENCE_SECONDS = 900.0
_FLOOR = "COPY BINARY into the same tables and indexes"
_BUILDING = "select from pg_stat_progress_create_index where command like 'CREATE INDEX%'"
_CHUNKS = "select count(*) from rag.child_chunk"


def run(bench: Bench) -> Iterator[Row]:
    """Chunks a second of an import, and of the others."""
    count = _FEW_DOCUMENTS if bench.quick else _DOCUMENTS
    made = islice(bench.generator.made(seed=22), count)
    documents = [replace(document, number=n) for n, document in enumerate(made, start=1)]
    with stored(bench, bench.middle) as store:
        bench.tell(f"bulk: {count * BATCH:,} chunks by REST into an empty library")
        archive, by_rest = _archive(bench, store, documents)
        bench.tell("bulk: the same by import, COPY and the peers")
        imported, indexed = _import(bench, store, archive)
        floor = _copied(store, documents)
        peers = {name: _written(bench, store, name, documents) for name in MODULES}
    name = f"chunks a second, {count * BATCH:,} chunks into an empty library"
    note = "`fuzi import`, HNSW built at the end"
    yield against("bulk", name, imported.rate, "chunks/s", _FLOOR, floor.rate, at_least(0.6), note)
    yield against("bulk", name, imported.rate, "chunks/s", "Fuzi by REST", by_rest.rate, None, note)
    for peer, written in peers.items():
        yield against("bulk", name, imported.rate, "chunks/s", peer, written.rate, None, note)
    yield shown("bulk", "share of the import's time that builds HNSW", indexed / imported.seconds, "")


def _archive(bench: Bench, store: Stored, documents: list[Document]) -> tuple[Path, Written]:
    """What Fuzi made of the documents, in a file; and how long they took it by REST."""
    home, table, file = bench.folder / "bulk-home", bench.folder / "table.npy", bench.folder / "bulk.tar"
    home.mkdir(exist_ok=True)
    np.save(table, np.asarray(store.vectors[:3000]))
    with store.empty("bulk") as url:
        settings = {"FUZI_DATABASE__URL": url, TABLE: str(table)}
        with (
            served(home, bench.log, settings, STUBBED) as service,
            httpx.Client(base_url=service.url, timeout=120) as http,
            psycopg.connect(url, autocommit=True) as connection,
        ):
            seconds = take_in(http, connection, documents)
            row = connection.execute(_CHUNKS).fetchone()
            assert row is not None
            written = Written(int(row[0]), seconds)
        _fuzi(home, url, "export", "default", str(file), "--overwrite")
    return file, written


def _import(bench: Bench, store: Stored, archive: Path) -> tuple[Written, float]:
    """The whole of the command, and the seconds of it in which the index was built."""
    with store.empty("bulk_import") as url, psycopg.connect(url, autocommit=True) as connection:
        begin = time.perf_counter()
        command = _begin(bench.folder / "bulk-home", url, "import", str(archive))
        indexing = list[float]()
        while command.poll() is None:
            if connection.execute(_BUILDING).fetchone() is not None:
                indexing.append(time.perf_counter())
            time.sleep(0.05)
        seconds = time.perf_counter() - begin
        report = json.loads(_answer(command))
    return Written(int(report["child_count"]), seconds), indexing[-1] - indexing[0] if indexing else 0.0


def _copied(store: Stored, documents: list[Document]) -> Written:
    with store.empty("bulk_copy") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("insert into rag.collection (name) values ('default')")  # gets the id 1
        return copy(url, store.server_pid, iter(documents), _PATIENCE_SECONDS)


def _written(bench: Bench, store: Stored, name: str, documents: list[Document]) -> Written:
    """A peer's own write calls, a document a call, into its tables and indexes without a row."""
    database = "bulk_peer"
    store.drop(database)
    files, nothing = written_files(bench.folder / "bulk", documents), bench.folder / "bulk" / "nothing.jsonl"
    nothing.touch()
    try:
        with open_peers(bench, store, database)[f"{name}, as shipped"] as peer:
            peer.ask(do="fill", chunks=str(nothing), vectors=files["vectors"])
            answer = peer.ask(do="write", **files, skip=0, seconds=_PATIENCE_SECONDS)
    finally:
        store.drop(database)
    return Written(answer["chunks"], answer["seconds"])


def _fuzi(home: Path, url: str, *arguments: str) -> str:
    return _answer(_begin(home, url, *arguments))


def _begin(home: Path, url: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "FUZI_HOME": str(home), "FUZI_DATABASE__URL": url}
    program = [Path(sys.executable).with_name("fuzi"), *arguments, "--json"]
    return subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True)


def _answer(command: subprocess.Popen[str]) -> str:
    answer, _ = command.communicate()
    if command.returncode:
        raise RuntimeError(f"{command.args} failed: {answer}")
    return answer
