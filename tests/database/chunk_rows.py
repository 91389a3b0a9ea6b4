"""Rows for tests of the SQL room: documents with chunks, written as plainly as possible."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from service.config import DatabaseSettings, SearchSettings
from service.db.engine import session_settings

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
    embedding_type: str = "vector",
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
    parent_ids, child_ids, start, ordinal = [], [], 0, 0
    for number, children in enumerate(groups):
        content = "\n".join(child.content for child in children)
        row = connection.execute(
            "insert into rag.parent_chunk (document_id, ordinal, content, start_offset, end_offset)"
            " values (%s, %s, %s, %s, %s) returning id",
            [document_id, number, content, start, start + len(content)],
        ).fetchone()
        assert row is not None
        parent_ids.append(int(row[0]))
        rows: list[tuple[Any, ...]] = []
        for child in children:
            end = start + len(child.content)
            rows.append((row[0], document_id, collection_id, ordinal, child.content, start, end, child.vector))
            start, ordinal = end + 1, ordinal + 1
        child_ids.append(_children(connection, rows, embedding_type))
    return Written(document_id, tuple(parent_ids), tuple(child_ids))


def _children(connection: Connection, rows: list[tuple[Any, ...]], embedding_type: str) -> tuple[int, ...]:
    columns = "parent_id, document_id, collection_id, ordinal, content, start_offset, end_offset, embedding"
    with connection.cursor() as cursor, cursor.copy(f"copy rag.child_chunk ({columns}) from stdin binary") as copy:  # type: ignore[arg-type]
        copy.set_types(["bigint", "uuid", "bigint", "integer", "text", "integer", "integer", embedding_type])
        for row in rows:
            vector = HalfVector(row[-1]) if embedding_type == "halfvec" else row[-1]
            copy.write_row((*row[:-1], vector))
    found = connection.execute("select id from rag.child_chunk where parent_id = %s order by ordinal", [rows[0][0]])
    return tuple(int(row[0]) for row in found)
