"""Read a document's extracted text and its chunks. Several reads agree with one another only in one snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Document, ParentChunk
from service.errors import DocumentNotFound, NotFound
from service.types import JsonObject


@dataclass(frozen=True, slots=True)
class StoredText:
    """The served version of a document's text; all offsets refer to ``text``."""

    document_id: UUID
    title: str | None
    media_type: str
    format: str
    text: str
    blocks: Sequence[JsonObject]
    pages: Sequence[JsonObject]
    metadata: JsonObject
    extracted_metadata: JsonObject
    warnings: Sequence[JsonObject]
    extractor: str
    extractor_version: str


@dataclass(frozen=True, slots=True)
class StoredParent:
    """A parent chunk as stored."""

    chunk_id: UUID
    ordinal: int
    start: int
    end: int
    content: str
    heading_path: Sequence[str]
    first_page: int | None
    last_page: int | None
    token_estimate: int


@dataclass(frozen=True, slots=True)
class StoredChild:
    """A child chunk as stored, with its parent's public id and ordinal."""

    chunk_id: UUID
    ordinal: int
    parent_chunk_id: UUID
    parent_ordinal: int
    start: int
    end: int
    content: str
    first_page: int | None
    last_page: int | None


async def read_text(connection: AsyncConnection, document_id: UUID) -> StoredText:
    """Return the text of the served version.

    Raises:
        DocumentNotFound: there is no such document.
        NotFound: it has no text, because it failed or is still on its way; ``details`` has the status.
    """
    row = (
        await connection.execute(
            select(
                Document.id.label("document_id"),
                Document.title,
                Document.media_type,
                Document.text_format.label("format"),
                Document.text,
                Document.blocks,
                Document.pages,
                Document.metadata_.label("metadata"),
                Document.extracted_metadata,
                Document.warnings,
                Document.extractor,
                Document.extractor_version,
                Document.status,
            ).where(Document.id == document_id)
        )
    ).one_or_none()
    if row is None:
        raise DocumentNotFound(f"there is no document {document_id}", document_id=str(document_id))
    values = dict(row._mapping)
    status = values.pop("status")
    if row.text is None:
        raise NotFound(
            f"the document has no text: its status is {status}", document_id=str(document_id), status=str(status)
        )
    return StoredText(**values)


async def read_parents(connection: AsyncConnection, document_id: UUID) -> list[StoredParent]:
    """Return the parent chunks by ordinal; none when the document has no served version."""
    rows = await connection.execute(
        select(
            ParentChunk.chunk_id,
            ParentChunk.ordinal,
            ParentChunk.start_offset.label("start"),
            ParentChunk.end_offset.label("end"),
            ParentChunk.content,
            ParentChunk.heading_path,
            ParentChunk.first_page,
            ParentChunk.last_page,
            ParentChunk.token_estimate,
        )
        .where(ParentChunk.document_id == document_id)
        .order_by(ParentChunk.ordinal)
    )
    return [StoredParent(**row._mapping) for row in rows]


async def read_children(connection: AsyncConnection, document_id: UUID) -> list[StoredChild]:
    """Return the child chunks by ordinal; none when the document has no served version."""
    rows = await connection.execute(
        select(
            ChildChunk.chunk_id,
            ChildChunk.ordinal,
            ParentChunk.chunk_id.label("parent_chunk_id"),
            ParentChunk.ordinal.label("parent_ordinal"),
            ChildChunk.start_offset.label("start"),
            ChildChunk.end_offset.label("end"),
            ChildChunk.content,
            ChildChunk.first_page,
            ChildChunk.last_page,
        )
        .join(ParentChunk, ParentChunk.id == ChildChunk.parent_id)
        .where(ChildChunk.document_id == document_id)
        .order_by(ChildChunk.ordinal)
    )
    return [StoredChild(**row._mapping) for row in rows]
