"""Replace a document's text and chunks in the caller's transaction, by COPY BINARY."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from pgvector import HalfVector
from psycopg import AsyncConnection as DriverConnection
from psycopg import sql
from sqlalchemy import ColumnClause, delete, func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.engine import driver_connection
from service.db.models import ChildChunk, Document, ParentChunk
from service.db.spaces.vector_type import ACTIVE_TYPE
from service.store.documents import NO_ORIGINAL
from service.types import Chunks, ExtractedText, JsonObject, Vector, VectorBatch

_RESERVE = """
    select
        array(select nextval(pg_get_serial_sequence('rag.parent_chunk', 'id')) from generate_series(1, %s)),
        array(select nextval(pg_get_serial_sequence('rag.child_chunk', 'id')) from generate_series(1, %s))
"""
_PARENT_COLUMNS = {
    "id": "int8",
    "chunk_id": "uuid",
    "document_id": "uuid",
    "ordinal": "int4",
    "content": "text",
    "heading_path": "text[]",
    "start_offset": "int4",
    "end_offset": "int4",
    "first_page": "int4",
    "last_page": "int4",
    "token_estimate": "int4",
}
_CHILD_COLUMNS = {
    "id": "int8",
    "chunk_id": "uuid",
    "parent_id": "int8",
    "document_id": "uuid",
    "collection_id": "int8",
    "ordinal": "int4",
    "content": "text",
    "start_offset": "int4",
    "end_offset": "int4",
    "first_page": "int4",
    "last_page": "int4",
    "embedding_prefix": "text",
    "inner_path": "text[]",
}
_VECTOR_TYPE: ColumnClause[str] = literal_column(f"({ACTIVE_TYPE})")


@dataclass(frozen=True, slots=True)
class NewVersion:
    """Everything that becomes the served version of a document.

    ``embeddings`` has shape ``[child_count, dimension]`` in the order of ``chunks.children``.
    """

    document_id: UUID
    object_key: str
    file_name: str
    size_bytes: int
    sha256: bytes
    text_sha256: bytes
    title: str
    metadata: JsonObject | None
    extracted: ExtractedText
    chunks: Chunks
    embeddings: VectorBatch


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a version took the place of; ``object_key`` is the original to delete after the commit."""

    had_version: bool
    object_key: str | None


async def lock_document(connection: AsyncConnection, document_id: UUID, pending_key: str) -> Replaced | None:
    """Lock the row of a received upload; None when it was deleted or a newer upload took over."""
    row = (
        await connection.execute(
            select(Document.pending_key, Document.object_key, Document.text_sha256)
            .where(Document.id == document_id)
            .with_for_update()
        )
    ).one_or_none()
    if row is None or row.pending_key != pending_key:
        return None
    return Replaced(had_version=row.text_sha256 is not None, object_key=row.object_key)


async def replace_version(connection: AsyncConnection, version: NewVersion, *, had_version: bool) -> None:
    """Write a version in place of the old one, if there is one; the caller holds the row's lock (`lock_document`)."""
    # In a thread: a large document has a hundred thousand blocks, and searches want their turn.
    values = await asyncio.to_thread(_document_values, version)
    collection_id, vector_type = (
        await connection.execute(
            update(Document)
            .where(Document.id == version.document_id)
            .values(values)
            .returning(Document.collection_id, _VECTOR_TYPE)
        )
    ).one()
    # One statement a table: every statement that inserts makes a BM25 segment (ENGINE_FACTS).
    if had_version:
        await connection.execute(delete(ChildChunk).where(ChildChunk.document_id == version.document_id))
        await connection.execute(delete(ParentChunk).where(ParentChunk.document_id == version.document_id))
    driver = await driver_connection(connection)
    parent_ids, child_ids = await _reserve_ids(driver, len(version.chunks.parents), len(version.chunks.children))
    await _copy(driver, "parent_chunk", _PARENT_COLUMNS, _parent_rows(version, parent_ids))
    # COPY BINARY does not cast: the numbers have to come as the column has them
    as_column = HalfVector if vector_type == "halfvec" else np.asarray
    rows = _child_rows(version, parent_ids, child_ids, collection_id, as_column)
    await _copy(driver, "child_chunk", {**_CHILD_COLUMNS, "embedding": vector_type}, rows)


def chunk_id(document_id: UUID, kind: str, text_sha256: bytes, start: int, end: int) -> UUID:
    """The public id of a chunk: the same text cut at the same place keeps its id, whoever splits it again."""
    return uuid5(document_id, f"{kind}:{text_sha256.hex()}:{start}:{end}")


def _document_values(version: NewVersion) -> dict[str, Any]:
    extracted = version.extracted
    described = {} if version.metadata is None else {"metadata_": dict(version.metadata)}
    return {
        "file_name": version.file_name,
        "title": version.title,
        "media_type": extracted.media_type,
        "size_bytes": version.size_bytes,
        "sha256": version.sha256,
        "text_sha256": version.text_sha256,
        "text": extracted.text,
        "text_format": extracted.format.value,
        "blocks": [asdict(block) for block in extracted.blocks],
        "pages": [asdict(page) for page in extracted.pages],
        "extracted_metadata": dict(extracted.metadata),
        "warnings": [asdict(notice) for notice in extracted.warnings],
        "object_key": None if version.object_key == NO_ORIGINAL else version.object_key,
        "pending_key": None,
        "status": extracted.status.value,
        "error_code": None,
        "error_message": None,
        "splitter_version": version.chunks.splitter_version,
        "split_settings_hash": version.chunks.settings_hash,
        "extractor": extracted.extractor,
        "extractor_version": extracted.extractor_version,
        "updated_at": func.now(),
        **described,
    }


def _parent_rows(version: NewVersion, parent_ids: Sequence[int]) -> Iterable[tuple[Any, ...]]:
    text, digest = version.extracted.text, version.text_sha256
    for id_, parent in zip(parent_ids, version.chunks.parents, strict=True):
        yield (
            id_,
            chunk_id(version.document_id, "parent", digest, parent.start, parent.end),
            version.document_id,
            parent.ordinal,
            text[parent.start : parent.end],
            list(parent.heading_path),
            parent.start,
            parent.end,
            parent.first_page,
            parent.last_page,
            parent.token_estimate,
        )


def _child_rows(
    version: NewVersion,
    parent_ids: Sequence[int],
    child_ids: Sequence[int],
    collection_id: int,
    as_column: Callable[[Vector], Any],
) -> Iterable[tuple[Any, ...]]:
    text, digest = version.extracted.text, version.text_sha256
    for id_, child, embedding in zip(child_ids, version.chunks.children, version.embeddings, strict=True):
        yield (
            id_,
            chunk_id(version.document_id, f"child{child.parent}", digest, child.start, child.end),
            parent_ids[child.parent],
            version.document_id,
            collection_id,
            child.ordinal,
            text[child.start : child.end],
            child.start,
            child.end,
            child.first_page,
            child.last_page,
            child.embedding_prefix,
            list(child.inner_path),
            as_column(embedding),
        )


async def _reserve_ids(driver: DriverConnection[Any], parents: int, children: int) -> tuple[list[int], list[int]]:
    """Keys for so many parents and children, ascending."""
    row = await (await driver.execute(_RESERVE, (parents, children))).fetchone()
    assert row is not None  # noqa: S101 - the query has one row
    return sorted(row[0]), sorted(row[1])


async def _copy(
    driver: DriverConnection[Any], table: str, columns: dict[str, str], rows: Iterable[tuple[Any, ...]]
) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("copy rag.{} ({}) from stdin with (format binary)").format(sql.Identifier(table), names)
    async with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            await copy.write_row(row)
