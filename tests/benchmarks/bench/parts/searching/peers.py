"""LangChain, LlamaIndex and pg_search with default options on the same rows and vectors, in turns with Fuzi."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from psycopg import sql

from tests.benchmarks.bench.data.homes import Stored, stored, write_queries
from tests.benchmarks.bench.data.library import Asked, Document
from tests.benchmarks.bench.load.contest import Contest, contest
from tests.benchmarks.bench.load.subject import Contestant, Subject, side_by_side, subject
from tests.benchmarks.bench.load.writers import BATCH
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.parts.searching.recall import recall_of_each
from tests.benchmarks.bench.rows import Goal, Row, Timing, against, at_least, at_most, shown
from tests.database.chunk_rows import search_connection

MODULES = {"LangChain": "langchain_peer", "LlamaIndex": "llamaindex_peer"}
DEFAULTS = "pg_search defaults"
_REST, _REST_VECTOR, _SQL_VECTOR = "hybrid by REST", "vector leg by REST", "vector leg by psycopg"
_QUESTIONS = 200
_AT_5 = 5


def run(bench: Bench) -> Iterator[Row]:
    """Three rows a peer and number of clients, then what the searches found."""
    asked = bench.generator.everyday()
    with ExitStack() as stack:
        store = stack.enter_context(stored(bench, bench.middle))
        asking = stack.enter_context(contest(bench, store, asked))
        peers = {name: stack.enter_context(peer) for name, peer in open_peers(bench, store).items()}
        for name, peer in peers.items():
            bench.tell(f"peers: {name} gets its {store.chunks:,} chunks")
            peer.ask(do="fill", **chunk_files(store))
            bench.versions.update(peer.opened.get("versions", {}))
            peer.ask(do="questions", queries=str(asking.queries), vectors=str(asking.vectors))
        for clients in (1, 8):
            bench.tell(f"peers: {len(peers)} and Fuzi, {clients} clients")
            timings = side_by_side(_contestants(asking, peers), clients, bench.seconds, bench.rounds)
            where = f"{store.chunks:,} chunks, {clients} client{'s' if clients > 1 else ''}"
            yield from _rows(timings, clients, where)
        for name in MODULES:
            yield _recall(store, asked, name, peers[f"{name}, as shipped"])
        yield from _quality(bench, store, asking, peers)


def open_peers(bench: Bench, store: Stored, database: str = "peers") -> dict[str, AbstractContextManager[Subject]]:
    """The programs, not yet started; each peer with plain and with segmented texts, in a database of their own."""
    with store.administering() as connection:
        known = connection.execute("select 1 from pg_database where datname = %s", [database]).fetchone()
        if known is None:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(database)))
    kinds = {
        f"{name}, {kind}": (module, kind) for name, module in MODULES.items() for kind in ("as shipped", "segmented")
    }
    kinds[DEFAULTS] = ("pg_search_peer", "as shipped")
    return {
        name: subject(
            f"tests.benchmarks.bench.peers.{module}",
            log=bench.log,
            python=bench.peers_python,
            dsn=store.url_of(database),
            segmented=kind == "segmented",
        )
        for name, (module, kind) in kinds.items()
    }


def written_files(folder: Path, documents: Iterable[Document], first: int = 1) -> dict[str, Any]:
    """The files from which peers write documents, and the rest of what to ask them by ``write``."""
    folder.mkdir(exist_ok=True)
    chunks, vectors = folder / "chunks.jsonl", folder / "chunks.npy"
    documents = list(documents)
    rows = ({"text": text, "source": each.source} for each in documents for text in each.texts)
    chunks.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    np.save(vectors, np.concatenate([each.vectors for each in documents]))
    return {"chunks": str(chunks), "vectors": str(vectors), "first": first, "batch": BATCH}


def chunk_files(store: Stored) -> dict[str, str]:
    """The files from which peers read the library; made once."""
    file = store.home / "chunks.jsonl"
    if not file.exists():
        statement = (
            "select c.content, d.source from rag.child_chunk as c join rag.document as d on d.id = c.document_id"
            " order by c.id"
        )
        unfinished = file.with_suffix(".part")
        with search_connection(store.dsn) as connection, unfinished.open("w", encoding="utf-8") as out:
            for text, source in connection.execute(statement):
                out.write(json.dumps({"text": text, "source": source}, ensure_ascii=False) + "\n")
        unfinished.rename(file)
    return {"chunks": str(file), "vectors": str(store.home / "vectors.npy")}


def _contestants(asking: Contest, peers: dict[str, Subject]) -> dict[str, Contestant]:
    found = {
        _REST: asking.rest(rerank=False),
        _REST_VECTOR: asking.rest(rerank=False, fts_weight=0),
        _SQL_VECTOR: asking.statement("vector"),
    }
    for name, peer in peers.items():
        found[name] = Contestant(peer, {"what": "hybrid"})
    for name in MODULES:
        found[f"{name}, vector leg"] = Contestant(peers[f"{name}, as shipped"], {"what": "vector"})
    return found


def _rows(timings: dict[str, Timing], clients: int, where: str) -> Iterator[Row]:
    for name in MODULES:
        for leg in (_SQL_VECTOR, _REST_VECTOR):
            yield from _both(leg, timings, f"{name}, vector leg", where, at_most(1), at_least(1))
        yield from _both(_REST, timings, f"{name}, as shipped", where)
        segmented = f"{name}, segmented"
        yield from _both(_REST, timings, segmented, where, at_most(0.5), at_least(3) if clients == 8 else None)
    yield from _both(_REST, timings, DEFAULTS, where, at_most(0.1), at_least(10) if clients == 8 else None)


def _both(
    ours: str, timings: dict[str, Timing], peer: str, where: str, time: Goal | None = None, rate: Goal | None = None
) -> Iterator[Row]:
    mine, theirs = timings[ours], timings[peer]
    note = f"p99 {mine.p99:.1f} beside {theirs.p99:.1f}"
    yield against("peers", f"{ours}: p50, {where}", mine.p50, "ms", peer, theirs.p50, time, note)
    yield against("peers", f"{ours}: rate, {where}", mine.throughput, "queries/s", peer, theirs.throughput, rate)


def _recall(store: Stored, asked: Asked, name: str, peer: Subject) -> Row:
    """What the vector leg of a peer brings, with the index options of Fuzi; Fuzi's own is in the part `recall`."""
    shares = recall_of_each(store.vectors, asked.vectors, peer.ask(do="nearest")["numbers"])
    return shown("peers", f"recall@50 of {name}, vector leg, {store.chunks:,} chunks", float(np.mean(shares)), "")


def _quality(bench: Bench, store: Stored, asking: Contest, peers: dict[str, Subject]) -> Iterator[Row]:
    everything = bench.generator.answerable()
    asked = Asked(everything.questions[:_QUESTIONS], everything.vectors[:_QUESTIONS])
    folder = bench.folder / "answerable"
    folder.mkdir(exist_ok=True)
    queries, vectors = write_queries(folder, asked)
    files = {"queries": str(queries), "vectors": str(vectors)}
    bench.tell(f"peers: what {len(asked.questions)} questions with known answers find")
    address = {"host": asking.service.host, "port": asking.service.port}
    ours = subject("tests.benchmarks.bench.load.http_load", log=bench.log, **address, **files)
    with_hits = _with_hits(store, asked)
    with ours as http:
        for name, rerank in (("Fuzi, no reranking", False), ("Fuzi, local reranker", True)):
            found = http.ask(do="all", body={"rerank": rerank})["sources"]
            pairs = zip(found, asked.questions, strict=True)
            ranks = [_rank(list(dict.fromkeys(sources)), each.source) for sources, each in pairs]
            yield from _found(name, ranks, with_hits)
    for name, peer in peers.items():
        bench.tell(f"peers: what {name} finds")
        peer.ask(do="questions", **files)
        answer = peer.ask(do="quality")
        yield from _found(name, answer["places"], answer["with_hits"])


def _found(name: str, ranks: list[int | None], with_hits: int) -> Iterator[Row]:
    mrr = sum(1 / rank for rank in ranks if rank is not None and rank <= _AT_5) / len(ranks)
    note = f"{len(ranks)} questions of cmrc2018"
    yield shown("peers", f"MRR@5, {name}", mrr, "", note)
    yield shown("peers", f"questions whose words found anything, {name}", with_hits / len(ranks), "", note)


def _rank(sources: list[str], right: str | None) -> int | None:
    return sources.index(right) + 1 if right in sources else None


def _with_hits(store: Stored, asked: Asked) -> int:
    with search_connection(store.dsn) as connection:
        ask = "select 1 from rag.fts_candidates(%s, 1)"
        return sum(connection.execute(ask, [each.text]).fetchone() is not None for each in asked.questions)
