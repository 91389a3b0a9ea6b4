"""Documents into the tables by COPY BINARY, as fast as PostgreSQL takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg.types.json import Jsonb

from tests.benchmarks.bench.data.library import Document

type Connection = psycopg.Connection[Any]

_DOCUMENTS: LiteralString = (
    "copy rag.document (id, collection_id, source, file_name, title, media_type, size_bytes, sha256, text, status,"
    " metadata) from stdin binary"
)
_DOCUMENT_TYPES = "uuid bigint text text text text bigint bytea text text jsonb"
_PARENTS: LiteralString = (
    "copy rag.parent_chunk (id, document_id, ordinal, content, start_offset, end_offset) from stdin binary"
)
_PARENT_TYPES = "bigint uuid integer text integer integer"
_CHILDREN: LiteralString = (
    "copy rag.child_chunk (id, parent_id, document_id, collection_id, ordinal, content, start_offset, end_offset,"
    " embedding) from stdin binary"
)
_CHILD_TYPES = "bigint bigint uuid bigint integer text integer integer vector"


@dataclass(slots=True)
class Keys:
    """The next keys: child chunks are numbered from 1 in the order of the library, so are parents."""

    parent: int = 1
    child: int = 1


def write(connection: Connection, collection_id: int, documents: Sequence[Document], keys: Keys) -> None:
    """Write documents with one COPY a table, in the transaction of the caller."""
    _copy(connection, _DOCUMENTS, _DOCUMENT_TYPES, (_document_row(each, collection_id) for each in documents))
    parents, children = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
    for document in documents:
        start, ordinal = 0, 0
        for number, texts in enumerate(document.parents):
            content = "".join(texts)
            parents.append((keys.parent, document.document_id, number, content, start, start + len(content)))
            for text in texts:
                ids = keys.child, keys.parent, document.document_id, collection_id, ordinal
                children.append((*ids, text, start, start + len(text), document.vectors[ordinal]))
                start, ordinal, keys.child = start + len(text), ordinal + 1, keys.child + 1
            keys.parent += 1
    _copy(connection, _PARENTS, _PARENT_TYPES, parents)
    _copy(connection, _CHILDREN, _CHILD_TYPES, children)


def _document_row(document: Document, collection_id: int) -> tuple[Any, ...]:
    text, source = "".join(document.texts), document.source
    encoded, metadata = text.encode(), Jsonb(dict(document.metadata))
    names = source, source.rpartition("/")[2], source
    digest = hashlib.sha256(encoded).digest()
    return document.document_id, collection_id, *names, "text/plain", len(encoded), digest, text, "ready", metadata


def _copy(connection: Connection, statement: LiteralString, types: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types.split())
        for row in rows:
            copy.write_row(row)


@contextmanager
def without_search_indexes(connection: Connection, memory: str) -> Iterator[None]:
    """Drop the HNSW and BM25 indexes, and build them again at the end, which is faster than filling them."""
    indexes = connection.execute(
        "select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index"
        " join pg_class on oid = indexrelid"
        " where indrelid in ('rag.child_chunk'::regclass, 'rag.parent_chunk'::regclass)"
        " and relam in (select oid from pg_am where amname in ('hnsw', 'bm25'))"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"drop index {name}")
    yield
    connection.execute(f"set maintenance_work_mem = '{memory}'")
    for _, definition in indexes:
        connection.execute(definition)
    connection.execute("reset maintenance_work_mem")


def set_sequences(connection: Connection) -> None:
    """Let the next keys follow those that were written."""
    for table in ("rag.parent_chunk", "rag.child_chunk"):
        connection.execute(
            f"select setval(pg_get_serial_sequence('{table}', 'id'), (select coalesce(max(id), 0) + 1 from {table}))"
        )
