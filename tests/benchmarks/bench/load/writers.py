"""Who writes documents into a library that has its indexes: COPY BINARY, Fuzi by REST, a peer by its own calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, LiteralString

import httpx
import psycopg
from pgvector.psycopg import register_vector

from service.config import JobSettings
from tests.benchmarks.bench.data.fill import Keys, write
from tests.benchmarks.bench.data.library import CHILDREN, PARENTS, Document
from tests.benchmarks.bench.load.processor import processor_seconds

BATCH = PARENTS * CHILDREN
"""Chunks of a made document; peers get as many a call."""
_UPLOADS_AT_ONCE = 8
_LOOK_SECONDS = 0.05
_CHUNKS: LiteralString = "select count(*) from rag.child_chunk"
_UNFINISHED: LiteralString = "select count(*) from rag.job where finished_at is null"
_FAILED: LiteralString = "select count(*) from rag.job where status = 'failed'"
_FIRST_KEY = 10**9
"""Far above all keys that the sequences give out, so that the floor may write into the library that Fuzi writes to."""


@dataclass(frozen=True, slots=True)
class Written:
    """Chunks that were written, in which time, and what they took of the processors: of all processes, in seconds."""

    chunks: int
    seconds: float
    processor_seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Chunks a second."""
        return self.chunks / self.seconds if self.seconds else 0.0

    @property
    def processor_ms(self) -> float:
        """Processor time of a chunk."""
        return self.processor_seconds / self.chunks * 1000 if self.chunks else 0.0

    def __add__(self, other: Written) -> Written:
        """Both after one another."""
        return Written(
            self.chunks + other.chunks,
            self.seconds + other.seconds,
            self.processor_seconds + other.processor_seconds,
        )


type Writer = Callable[[float, int], Written]
"""Writes for so many seconds, or so many documents; takes whichever it can keep to."""


def by_turns(writers: Mapping[str, Writer], first: str, seconds: float, rounds: int) -> dict[str, Written]:
    """Let all of them write, in so many turns. ``first`` writes for a time, and tells the others how many documents."""
    found: dict[str, Written] = {}
    for _ in range(rounds):
        documents = 0
        for name in (first, *(name for name in writers if name != first)):
            written = writers[name](seconds / rounds, documents)
            documents = documents or -(-written.chunks // BATCH)
            found[name] = found[name] + written if name in found else written
    return found


@contextmanager
def spent(*pids: int) -> Iterator[Callable[[], float]]:
    """Gives what these processes took of the processors since the block began, in seconds."""
    before = processor_seconds(*pids)
    yield lambda: processor_seconds(*pids) - before


def copy(url: str, server_pid: int, documents: Iterator[Document], seconds: float) -> Written:
    """The floor: as many connections as Fuzi has jobs at once, each document in a transaction, while there are any.

    Its own Python does not count as processor time.
    """
    connections, guard = JobSettings().concurrency, Lock()

    def one(connection: psycopg.Connection[Any], keys: Keys) -> int:
        chunks = 0
        while time.perf_counter() < begin + seconds:
            with guard:
                document = next(documents, None)
            if document is None:
                break
            with connection.transaction():
                write(connection, 1, [document], keys)
            chunks += len(document.texts)
        return chunks

    with ExitStack() as stack, ThreadPoolExecutor(connections) as pool:
        opened = [stack.enter_context(_warm(url)) for _ in range(connections)]
        keys = [_free_keys(opened[0], place) for place in range(connections)]
        with spent(server_pid) as so_far:
            begin = time.perf_counter()
            chunks = sum(pool.map(one, opened, keys))
            return Written(chunks, time.perf_counter() - begin, so_far())


def upload(http: httpx.Client, url: str, pids: tuple[int, int], documents: Iterator[Document], count: int) -> Written:
    """Fuzi: so many documents by REST, several at once, until no job is left.

    ``pids`` are the service and the server; the client does not count as processor time.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        before = _number(connection, _CHUNKS)
        with spent(*pids) as so_far:
            seconds = take_in(http, connection, list(islice(documents, count)))
            processor = so_far()
        return Written(_number(connection, _CHUNKS) - before, seconds, processor)


def take_in(http: httpx.Client, connection: psycopg.Connection[Any], documents: list[Document]) -> float:
    """Seconds from the first upload until no job is left, which the database is asked: that costs the service nothing.

    Raises:
        RuntimeError: a job failed.
    """

    def one(document: Document) -> None:
        content = "\n".join("".join(children) for children in document.parents).encode()
        files = {"file": (f"{document.number}.txt", content, "text/plain")}
        http.post("/v1/documents", files=files).raise_for_status()

    begin = time.perf_counter()
    with ThreadPoolExecutor(_UPLOADS_AT_ONCE) as pool:
        list(pool.map(one, documents))
    while _number(connection, _UNFINISHED):
        time.sleep(_LOOK_SECONDS)
    seconds = time.perf_counter() - begin
    if failed := _number(connection, _FAILED):
        raise RuntimeError(f"{failed} jobs failed; see the log")
    return seconds


@contextmanager
def _warm(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection that has loaded the Chinese dictionary."""
    with psycopg.connect(url, autocommit=True) as connection:
        register_vector(connection)
        connection.execute("select count(*) from rag.fts_candidates('中文', 1)")
        yield connection


def _free_keys(connection: psycopg.Connection[Any], place: int) -> Keys:
    """Keys that neither the sequences nor another connection use."""
    low, high = _FIRST_KEY * (place + 1), _FIRST_KEY * (place + 2) - 1
    row = connection.execute(
        "select (select max(id) from rag.parent_chunk where id between %(low)s and %(high)s),"
        " (select max(id) from rag.child_chunk where id between %(low)s and %(high)s)",
        {"low": low, "high": high},
    ).fetchone()
    assert row is not None
    return Keys(*(low if last is None else last + 1 for last in row))


def _number(connection: psycopg.Connection[Any], query: LiteralString) -> int:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])
