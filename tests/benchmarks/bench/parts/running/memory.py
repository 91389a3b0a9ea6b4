"""Memory of every process while it is used, and bytes on disk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import psutil

from tests.benchmarks.bench.data.homes import Stored, stored
from tests.benchmarks.bench.load.contest import contest
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, against, shown
from tests.database.chunk_rows import search_connection

_MB, _KB = 1024 * 1024, 1024
_RELATIONS = {
    "rows of the child chunks": "pg_table_size('rag.child_chunk')",
    "HNSW index": "pg_relation_size('rag.child_chunk_embedding_hnsw')",
    "BM25 index of the child chunks": "pg_relation_size('rag.child_chunk_bm25')",
    "parent chunks with their indexes": "pg_total_relation_size('rag.parent_chunk')",
    "documents with their indexes": "pg_total_relation_size('rag.document')",
    "whole database": "pg_database_size(current_database())",
}


def run(bench: Bench) -> Iterator[Row]:
    """Memory at the middle size after searches of eight clients; bytes on disk at every size."""
    for size in bench.sizes:
        with stored(bench, size) as store:
            yield from _on_disk(store)
            if size != bench.middle:
                continue
            with contest(bench, store, bench.generator.everyday()) as asking:
                bench.tell(f"memory: 8 clients at {size:,} chunks")
                asking.rest().measure(8, bench.seconds / 3)
                yield from _in_memory(asking.service.pid, store)


def _on_disk(store: Stored) -> Iterator[Row]:
    text = "(select sum(octet_length(content)) from rag.child_chunk)"
    with search_connection(store.dsn) as connection:
        row = connection.execute(f"select {text}, {', '.join(_RELATIONS.values())}").fetchone()  # type: ignore[arg-type]
    assert row is not None
    thousands = store.chunks / 1000
    name = "text of the child chunks"
    for what, size in zip(_RELATIONS, row[1:], strict=True):
        kilobytes, beside = float(size) / _KB / thousands, float(row[0]) / _KB / thousands
        title = f"{what}, per 1,000 of {store.chunks:,} chunks"
        yield against("memory", title, kilobytes, "kB", name, beside)


def _in_memory(pid: int, store: Stored) -> Iterator[Row]:
    """Proportional set sizes: pages that processes share are counted once."""
    sizes, counts = defaultdict[str, float](float), defaultdict[str, int](int)
    service, server = psutil.Process(pid), psutil.Process(store.server_pid)
    named = [("fuzi serve", service), *(("its " + _role(each), each) for each in service.children(recursive=True))]
    named += [("PostgreSQL", each) for each in (server, *server.children())]
    for name, process in named:
        try:
            sizes[name] += process.memory_full_info().pss / _MB
        except psutil.NoSuchProcess:
            continue
        counts[name] += 1
    for name, size in sizes.items():
        yield shown("memory", name, size, "MB", note=f"{counts[name]} processes" if counts[name] > 1 else None)
    yield shown("memory", "all together", sum(sizes.values()), "MB", note=f"{store.chunks:,} chunks, PSS")


def _role(process: psutil.Process) -> str:
    command = " ".join(process.cmdline())
    return "extractor" if "extract" in command else "embedding model"
