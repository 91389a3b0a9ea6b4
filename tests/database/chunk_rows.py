"""Rows for tests of the SQL room: documents with chunks, written as plainly as possible."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID, uuid4

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from service.config import DatabaseSettings, SearchSettings
from service.db.engine import session_settings
from service.db.spaces.vector_type import ACTIVE_TYPE

DIMENSION = 384
type Connection = psycopg.Connection[Any]


@contextmanager
def search_connection(dsn: str) -> Iterator[Connection]:
    """Autocommit connection with the session settings of a searching connection of the service."""
    settings = session_settings(DatabaseSettings(), SearchSettings())
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    with psycopg.connect(dsn, autocommit=True, options=options) as connection:
        register_vector(connection)
        yield connection


def unit_vector(angle: float, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Vector at an angle, in degrees, from the first axis: its cosine distance from angle 0 is ``1 - cos(angle)``."""
    vector = np.zeros(dimension, dtype=np.float32)
    vector[:2] = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return vector


@dataclass(frozen=True, slots=True)
class Child:
    """A child chunk to write; ``vector`` defaults to one that is far from angle 0."""

    content: str
    vector: NDArray[np.float32] = field(default_factory=lambda: unit_vector(90))


@dataclass(frozen=True, slots=True)
class Written:
    """Keys of a written document: its parents, and the children of each parent."""

    document_id: UUID
    parent_ids: tuple[int, ...]
    child_ids: tuple[tuple[int, ...], ...]


def collection(connection: Connection, name: str) -> int:
    """Id of a new collection."""
    row = connection.execute("insert into rag.collection (name) values (%s) returning id", [name]).fetchone()
    assert row is not None
    return int(row[0])


def random_vector(seed: int, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Vector of length 1 in a random direction, none of its numbers zero."""
    vector = np.random.default_rng(seed).normal(size=dimension).astype(np.float32)
    return vector / np.linalg.norm(vector)


def document(
    connection: Connection,
    collection_id: int,
    source: str,
    parents: Iterable[Sequence[Child]],
    *,
    metadata: str = "{}",
) -> Written:
    """Write a ready document whose parents hold the given children, one line each."""
    groups = [list(children) for children in parents]
    text = "\n".join(child.content for children in groups for child in children)
    document_id = uuid4()
    connection.execute(
        """
        insert into rag.document
            (id, collection_id, source, file_name, title, media_type, size_bytes, sha256, text, status, metadata)
        values (%s, %s, %s, %s, %s, 'text/plain', %s, %s, %s, 'ready', %s)
        """,
        [
            document_id,
            collection_id,
            source,
            source.rpartition("/")[2],
            source,
            len(text.encode()),
            hashlib.sha256(text.encode()).digest(),
            text,
            metadata,
        ],
    )
    parent_ids = _ids(connection, "rag.parent_chunk", len(groups))
    (embedding_type,) = connection.execute(ACTIVE_TYPE).fetchone() or ("",)
    child_ids = iter(_ids(connection, "rag.child_chunk", sum(map(len, groups))))
    parent_rows: list[tuple[Any, ...]] = []
    child_rows: list[tuple[Any, ...]] = []
    position = 0
    for number, (parent_id, children) in enumerate(zip(parent_ids, groups, strict=True)):
        begin = position
        for child in children:
            end = position + len(child.content)
            vector = HalfVector(child.vector) if embedding_type == "halfvec" else child.vector
            keys = (next(child_ids), parent_id, document_id, collection_id, len(child_rows))
            child_rows.append((*keys, child.content, position, end, vector))
            position = end + 1
        parent_rows.append((parent_id, document_id, number, text[begin : position - 1], begin, position - 1))
    _copy(connection, _PARENT, "bigint uuid integer text integer integer", parent_rows)
    _copy(connection, _CHILD, f"bigint bigint uuid bigint integer text integer integer {embedding_type}", child_rows)
    of_parent = {parent_id: tuple(row[0] for row in child_rows if row[1] == parent_id) for parent_id in parent_ids}
    return Written(document_id, tuple(parent_ids), tuple(of_parent.values()))


_PARENT = "copy rag.parent_chunk (id, document_id, ordinal, content, start_offset, end_offset) from stdin binary"
_CHILD = """
    copy rag.child_chunk
        (id, parent_id, document_id, collection_id, ordinal, content, start_offset, end_offset, embedding)
    from stdin binary
"""


def _ids(connection: Connection, table: str, count: int) -> list[int]:
    rows = connection.execute(
        "select nextval(pg_get_serial_sequence(%s, 'id')) from generate_series(1, %s)", [table, count]
    )
    return [row[0] for row in rows]


def _copy(connection: Connection, statement: LiteralString, types: str, rows: list[tuple[Any, ...]]) -> None:
    """One statement for all rows: each statement makes a segment of the BM25 index."""
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types.split())
        for row in rows:
            copy.write_row(row)
