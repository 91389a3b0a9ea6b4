"""Servers with a library each, filled once and kept for the next run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import batched
from pathlib import Path

import numpy as np
import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from service.config import Settings
from service.db.embedded import EmbeddedServer
from service.db.migrate import upgrade
from tests.benchmarks.bench.data.fill import Connection, Keys, set_sequences, without_search_indexes, write
from tests.benchmarks.bench.data.library import DIMENSION, Asked, Floats
from tests.benchmarks.bench.options import Bench

_GENERATION = 2
"""Goes up when libraries are made another way: what is kept is made anew."""
_DOCUMENTS_A_COMMIT = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """A running server with its library; child chunk n of ``vectors [chunk_count, DIMENSION]`` has the id n + 1."""

    home: Path
    dsn: str
    chunks: int
    vectors: Floats

    @property
    def server_pid(self) -> int:
        """The process below which all of PostgreSQL runs."""
        pid = EmbeddedServer(self.home).status().pid
        assert pid is not None
        return pid

    def url_of(self, database: str) -> str:
        """URL of another database of the server, over loopback TCP, which every driver understands."""
        address = EmbeddedServer(self.home).start()
        return replace(address, database=database).dsn

    @contextmanager
    def copied(self, name: str, of: str | None = None) -> Iterator[str]:
        """URL of a copy of the library's or another database, which is dropped at the end.

        Nobody may be connected to the original while it is copied.
        """
        template = sql.SQL(" template {} strategy file_copy").format(sql.Identifier(of or self._database))
        with self._made(name, template) as url:
            yield url

    @contextmanager
    def empty(self, name: str) -> Iterator[str]:
        """URL of a new database with the schema and nothing in it, which is dropped at the end."""
        with self._made(name, sql.SQL("")) as url:
            upgrade(url, Settings(_env_file=None))
            yield url

    @contextmanager
    def _made(self, name: str, template: sql.Composable) -> Iterator[str]:
        self.drop(name)
        with self.administering() as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)) + template)
        try:
            yield self.url_of(name)
        finally:
            self.drop(name)

    def kept(self, name: str, change: Callable[[Connection], None]) -> str:
        """The name of a copy of the library that was changed once, and stays."""
        with self.administering() as connection:
            if connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
                return name
            unfinished = f"{name}_unfinished"
            with self.copied(unfinished) as url:
                with psycopg.connect(url, autocommit=True) as changing:
                    change(changing)
                rename = sql.SQL("alter database {} rename to {}")
                connection.execute(rename.format(sql.Identifier(unfinished), sql.Identifier(name)))
        return name

    def drop(self, name: str) -> None:
        """Drop a database if it is there."""
        with self.administering() as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

    @contextmanager
    def administering(self) -> Iterator[Connection]:
        """A connection to the database `postgres`, in which databases are made and dropped."""
        with psycopg.connect(self.url_of("postgres"), autocommit=True) as connection:
            yield connection

    @property
    def _database(self) -> str:
        return str(psycopg.conninfo.conninfo_to_dict(self.dsn)["dbname"])


@contextmanager
def stored(bench: Bench, chunks: int) -> Iterator[Stored]:
    """A running server with so many child chunks, migrated to this code's revision; it is stopped at the end."""
    home = bench.folder / f"{'quick' if bench.quick else 'home'}-{chunks}-{_GENERATION}"
    if bench.fresh or not (home / "filled").exists():
        EmbeddedServer(home).stop()
        shutil.rmtree(home, ignore_errors=True)
    server = EmbeddedServer(home)
    try:
        dsn = server.start().nearest_dsn
        upgrade(dsn, Settings(_env_file=None))
        if not (home / "filled").exists():
            _fill(bench, dsn, home, chunks)
            (home / "filled").touch()
        yield Stored(home, dsn, chunks, np.load(home / "vectors.npy", mmap_mode="r"))
    finally:
        server.stop()


def _fill(bench: Bench, dsn: str, home: Path, chunks: int) -> None:
    vectors = np.lib.format.open_memmap(home / "vectors.npy", mode="w+", dtype=np.float32, shape=(chunks, DIMENSION))
    with psycopg.connect(dsn, autocommit=True) as connection:
        register_vector(connection)
        row = connection.execute("select id from rag.collection where name = 'default'").fetchone()
        row = row or connection.execute("insert into rag.collection (name) values ('default') returning id").fetchone()
        assert row is not None
        keys, place = Keys(), 0
        with without_search_indexes(connection, bench.build_memory):
            for documents in batched(bench.generator.documents(chunks), _DOCUMENTS_A_COMMIT):
                with connection.transaction():
                    write(connection, row[0], documents, keys)
                for document in documents:
                    vectors[place : place + len(document.vectors)] = document.vectors
                    place += len(document.vectors)
                bench.tell(f"writing {place:,} of {chunks:,} chunks, once")
            bench.tell(f"building the indexes of {chunks:,} chunks, once")
        set_sequences(connection)
        connection.execute("vacuum analyze")
    vectors.flush()


def write_queries(folder: Path, asked: Asked) -> tuple[Path, Path]:
    """Files of the questions, a JSON object a line, and of their vectors, for programs that ask them."""
    texts, vectors = folder / "queries.jsonl", folder / "queries.npy"
    lines = [json.dumps({"text": each.text, "source": each.source}, ensure_ascii=False) for each in asked.questions]
    texts.write_text("\n".join(lines), encoding="utf-8")
    np.save(vectors, asked.vectors)
    return texts, vectors
