"""Read the served documents of a collection, a piece at a time. The caller holds one snapshot for all calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import numpy as np
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.errors import CollectionNotFound
from service.store.documents import READY
from service.store.portable.records import VECTOR_BYTES, PortableChild, PortableDocument, PortableParent
from service.store.stored_text import extracted_text
from service.types import JsonObject

_ROWS = 1000


async def collection_settings(connection: AsyncConnection, name: str) -> tuple[int, JsonObject]:
    """Return id and settings of a collection.

    Raises:
        CollectionNotFound: there is none of this name.
    """
    query = select(Collection.id, Collection.settings).where(Collection.name == name)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise CollectionNotFound(f"there is no collection {name}")
    return row.id, row.settings


async def served_documents(
    connection: AsyncConnection, collection_id: int
) -> tuple[list[tuple[UUID, str | None]], int]:
    """Return ids and original keys of documents with a served version, oldest first, and how many have none."""
    query = (
        select(Document.id, Document.object_key)
        .where(Document.collection_id == collection_id, Document.status.in_(READY))
        .order_by(Document.created_at, Document.id)
    )
    served = [(row.id, row.object_key) for row in await connection.execute(query)]
    total = await connection.scalar(
        select(func.count()).select_from(Document).where(Document.collection_id == collection_id)
    )
    return served, (total or 0) - len(served)


async def read_document(connection: AsyncConnection, document_id: UUID) -> PortableDocument:
    """Return one served document."""

    def count(chunk: type[ParentChunk] | type[ChildChunk]) -> ColumnElement[int]:
        return select(func.count()).where(chunk.document_id == document_id).scalar_subquery()

    query = select(Document, count(ParentChunk).label("parent_count"), count(ChildChunk).label("child_count")).where(
        Document.id == document_id
    )
    row = (await connection.execute(query)).one()
    return PortableDocument(
        document_id=row.id,
        source=row.source,
        file_name=row.file_name,
        size_bytes=row.size_bytes,
        sha256=row.sha256.hex(),
        text_sha256=row.text_sha256.hex(),
        title=row.title,
        metadata=row.metadata,
        extracted=extracted_text(row),
        splitter_version=row.splitter_version or "",
        split_settings_hash=row.split_settings_hash or "",
        parent_count=row.parent_count,
        child_count=row.child_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


async def read_parents(connection: AsyncConnection, document_id: UUID) -> AsyncIterator[PortableParent]:
    """Parent chunks by ordinal."""
    query = select(ParentChunk).where(ParentChunk.document_id == document_id).order_by(ParentChunk.ordinal)
    async with connection.stream(query.execution_options(yield_per=_ROWS)) as rows:
        async for row in rows:
            yield PortableParent(
                document_id=document_id,
                chunk_id=row.chunk_id,
                ordinal=row.ordinal,
                start=row.start_offset,
                end=row.end_offset,
                content=row.content,
                heading_path=tuple(row.heading_path),
                first_page=row.first_page,
                last_page=row.last_page,
                token_estimate=row.token_estimate,
            )


async def read_children(connection: AsyncConnection, document_id: UUID) -> AsyncIterator[PortableChild]:
    """Child chunks by ordinal."""
    columns = [column for column in ChildChunk.__table__.columns if column.name not in {"id", "embedding"}]
    query = (
        select(*columns, ParentChunk.ordinal.label("parent_ordinal"))
        .join(ParentChunk, ParentChunk.id == ChildChunk.parent_id)
        .where(ChildChunk.document_id == document_id)
        .order_by(ChildChunk.ordinal)
    )
    async with connection.stream(query.execution_options(yield_per=_ROWS)) as rows:
        async for row in rows:
            yield PortableChild(
                document_id=document_id,
                chunk_id=row.chunk_id,
                parent_ordinal=row.parent_ordinal,
                ordinal=row.ordinal,
                start=row.start_offset,
                end=row.end_offset,
                content=row.content,
                first_page=row.first_page,
                last_page=row.last_page,
                embedding_prefix=row.embedding_prefix,
                inner_path=tuple(row.inner_path),
            )


async def read_vectors(connection: AsyncConnection, document_id: UUID) -> AsyncIterator[bytes]:
    """Vectors of the child chunks by ordinal, as they travel, many at a time."""
    query = select(ChildChunk.embedding).where(ChildChunk.document_id == document_id).order_by(ChildChunk.ordinal)
    async with connection.stream(query.execution_options(yield_per=_ROWS)) as rows:
        async for part in rows.scalars().partitions():
            yield b"".join(_bytes(vector) for vector in part)


def _bytes(vector: object) -> bytes:
    # a half vector comes as an object of its own
    numbers: Sequence[float] = vector.to_numpy() if hasattr(vector, "to_numpy") else vector  # type: ignore[assignment]
    return np.asarray(numbers, dtype=VECTOR_BYTES).tobytes()
