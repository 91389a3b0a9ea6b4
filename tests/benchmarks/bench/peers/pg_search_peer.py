"""pg_search as other products use it: default options, lindera, parallel workers, two queries, fusion in Python."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from tests.benchmarks.bench.load.drive import speak
from tests.benchmarks.bench.peers.peer import (
    ANSWERS,
    CANDIDATES,
    CONNECTIONS,
    EF_SEARCH,
    Chunk,
    Peer,
    Question,
    vector_text,
)

RRF_K = 60
_NEAR = "select id, source, content from passages order by embedding <=> %s::vector limit %s"
_FOUND = "select id, source, content from passages where content ||| %s order by paradedb.score(id) desc limit %s"
_COPY = "copy passages (id, source, content, embedding) from stdin"


class Defaults(Peer):
    """One table, one BM25 index and one HNSW index; psycopg on as many connections as clients."""

    async def open(self) -> dict[str, Any]:
        self._free: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()
        self._opened = 0
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for extension in ("vector", "pg_search"):
                connection.execute(f"create extension if not exists {extension}")
        return {}

    async def fill(self, chunks: Iterator[Chunk]) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            row = connection.execute("select to_regclass('passages_filled') is not null").fetchone()
            if row is not None and row[0]:
                return
            connection.execute("drop table if exists passages")
            connection.execute(
                "create table passages (id bigint primary key, source text, content text, embedding vector(384))"
            )
            _copy(connection, chunks)
            connection.execute(
                "create index on passages using bm25 (id, (content::pdb.lindera(chinese))) with (key_field = 'id')"
            )
            connection.execute("set maintenance_work_mem = '1GB'")
            connection.execute("create index on passages using hnsw (embedding vector_cosine_ops)")
            connection.execute("vacuum analyze passages")
            connection.execute("create table passages_filled ()")

    async def write(self, batches: Iterator[Sequence[Chunk]]) -> None:
        async with await psycopg.AsyncConnection.connect(self.dsn) as connection:
            for part in batches:
                async with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
                    for chunk in part:
                        await copy.write_row((chunk.number, chunk.source, chunk.text, vector_text(chunk.vector)))
                await connection.commit()

    async def vector(self, question: Question) -> list[str]:
        return [row[1] for row in await self._rows(_NEAR, str(question.vector))]

    async def words(self, question: Question) -> list[str]:
        return [row[1] for row in await self._rows(_FOUND, question.text)]

    async def hybrid(self, question: Question) -> list[str]:
        legs = [await self._rows(_NEAR, str(question.vector)), await self._rows(_FOUND, question.text)]
        scores, sources = dict[int, float](), dict[int, str]()
        for leg in legs:
            for rank, (number, source, _content) in enumerate(leg, start=1):
                scores[number] = scores.get(number, 0) + 1 / (RRF_K + rank)
                sources[number] = source
        return [sources[number] for number in sorted(scores, key=lambda number: -scores[number])[:ANSWERS]]

    async def _rows(self, statement: str, asked: str) -> list[Any]:
        if self._free.empty() and self._opened < CONNECTIONS:
            self._opened += 1
            options = f"-c hnsw.ef_search={EF_SEARCH} -c max_parallel_workers_per_gather=2"
            connection = await psycopg.AsyncConnection.connect(self.dsn, autocommit=True, options=options)
        else:
            connection = await self._free.get()
        try:
            return await (await connection.execute(statement, [asked, CANDIDATES])).fetchall()  # type: ignore[arg-type]
        finally:
            self._free.put_nowait(connection)


def _copy(connection: psycopg.Connection[Any], chunks: Iterator[Chunk]) -> None:
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for chunk in chunks:
            copy.write_row((chunk.number, chunk.source, chunk.text, vector_text(chunk.vector)))


if __name__ == "__main__":
    speak(Defaults().handle)
