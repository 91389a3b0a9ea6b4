"""The chunks of a library in a database of their own, with their vectors in the type that is asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import psycopg
from psycopg import sql

from service.config import EmbedSettings, Settings
from service.db.migrate import upgrade
from service.db.spaces.column import HNSW
from tests.benchmarks.bench.data.fill import Connection
from tests.benchmarks.bench.data.homes import Stored
from tests.database.chunk_rows import search_connection

_SEARCH_INDEXES = "rag.child_chunk_embedding_hnsw, rag.child_chunk_bm25, rag.parent_chunk_bm25"
_FACTS = """
    select pg_relation_size(oid), pg_table_size('rag.child_chunk'), array_to_string(reloptions, ', ')
    from pg_class where oid = %s::regclass
"""
_COLUMNS = "id, parent_id, document_id, collection_id, ordinal, content, start_offset, end_offset"


@dataclass(frozen=True, slots=True)
class TypedChunks:
    """A database with the child chunks of a library, indexed by their vectors alone, and what the index took."""

    connection: Connection
    build_seconds: float
    index_bytes: int
    table_bytes: int
    options: str


@contextmanager
def typed_chunks(store: Stored, kind: Literal["vector", "halfvec"], build_memory: str) -> Iterator[TypedChunks]:
    """Copy the child chunks of a library, on its server, and build an HNSW index of the default options.

    The database is dropped at the end.
    """
    name = f"bench_{kind}"
    store.drop(name)
    with store.administering() as server:
        server.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    try:
        upgrade(store.url_of(name), Settings(_env_file=None, embed=EmbedSettings(vector_type=kind)))
        with search_connection(store.url_of(name)) as connection:
            definition = connection.execute("select pg_get_indexdef(%s::regclass)", [f"rag.{HNSW}"]).fetchone()
            assert definition is not None
            connection.execute(f"drop index {_SEARCH_INDEXES}")
            _copy(store, connection, kind)
            connection.execute("vacuum analyze rag.child_chunk")
            connection.execute("set statement_timeout = 0")
            connection.execute(sql.SQL("set maintenance_work_mem = {}").format(build_memory))
            begun = time.monotonic()
            connection.execute(definition[0])
            seconds = time.monotonic() - begun
            row = connection.execute(_FACTS, [f"rag.{HNSW}"]).fetchone()
            assert row is not None
            yield TypedChunks(connection, seconds, *row)
    finally:
        store.drop(name)


def _copy(store: Stored, connection: Connection, kind: str) -> None:
    connection.execute("set session_replication_role = replica")  # the rows that they refer to stay behind
    taking = f"copy (select {_COLUMNS}, embedding::{kind} from rag.child_chunk order by id) to stdout binary"
    with (
        psycopg.connect(store.dsn) as library,
        library.cursor().copy(taking) as out,
        connection.cursor().copy(f"copy rag.child_chunk ({_COLUMNS}, embedding) from stdin binary") as into,
    ):
        for piece in out:
            into.write(piece)
    connection.execute("reset session_replication_role")
