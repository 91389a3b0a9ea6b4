"""Document rows: find, list, receive, fail, delete. Callers own the transaction; nothing here commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Executable, case, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.errors import DocumentNotFound, FuziError
from service.types import ANYONE, DocumentStatus, JsonObject, Principal

READY = (DocumentStatus.READY, DocumentStatus.READY_WITH_WARNINGS)
NO_ORIGINAL = "none"
"""Stands for the key of an original where a document has none: it came by an import without it."""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its text. ``error_code`` beside a ready status tells of a failed replacement."""

    id: UUID
    collection: str
    source: str
    file_name: str
    title: str | None
    media_type: str
    size_bytes: int
    sha256: bytes
    status: DocumentStatus
    error_code: str | None
    error_message: str | None
    warnings: Sequence[JsonObject]
    metadata: JsonObject
    object_key: str | None
    pending_key: str | None
    splitter_version: str | None
    split_settings_hash: str | None
    parent_count: int
    child_count: int
    page_count: int
    created_at: datetime
    updated_at: datetime

    @property
    def is_ready(self) -> bool:
        """True when a version of this document can be found by searches."""
        return self.status in READY


def _count(chunk: type[ParentChunk] | type[ChildChunk]) -> ColumnElement[int]:
    return select(func.count()).where(chunk.document_id == Document.id).correlate(Document).scalar_subquery()


_RECORD = (
    select(
        Document.id,
        Collection.name.label("collection"),
        Document.source,
        Document.file_name,
        Document.title,
        Document.media_type,
        Document.size_bytes,
        Document.sha256,
        Document.status,
        Document.error_code,
        Document.error_message,
        Document.warnings,
        Document.metadata_.label("metadata"),
        Document.object_key,
        Document.pending_key,
        Document.splitter_version,
        Document.split_settings_hash,
        _count(ParentChunk).label("parent_count"),
        _count(ChildChunk).label("child_count"),
        func.jsonb_array_length(Document.pages).label("page_count"),
        Document.created_at,
        Document.updated_at,
    )
    .select_from(Document)
    .join(Collection, Collection.id == Document.collection_id)
)


def _record(row: Any) -> DocumentRecord:
    values = dict(row._mapping)
    return DocumentRecord(**{**values, "status": DocumentStatus(values["status"])})


async def get_document(connection: AsyncConnection, document_id: UUID, seen_by: Principal = ANYONE) -> DocumentRecord:
    """Return one document.

    Raises:
        DocumentNotFound: there is none with this id, or its collection is hidden from ``seen_by``.
    """
    row = (await connection.execute(_RECORD.where(Document.id == document_id))).one_or_none()
    if row is None or not seen_by.may_see(row.collection):
        raise DocumentNotFound(f"there is no document {document_id}", document_id=str(document_id))
    return _record(row)


async def find_document(connection: AsyncConnection, collection_id: int, source: str) -> DocumentRecord | None:
    """Return the document of a source, or None."""
    query = _RECORD.where(Document.collection_id == collection_id, Document.source == source)
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else _record(row)


async def find_duplicate(
    connection: AsyncConnection, collection_id: int, sha256: bytes, other_than: UUID
) -> UUID | None:
    """Return the oldest other ready document of the collection with the same bytes, or None."""
    query = (
        select(Document.id)
        .where(
            Document.collection_id == collection_id,
            Document.sha256 == sha256,
            Document.id != other_than,
            Document.status.in_(READY),
        )
        .order_by(Document.created_at, Document.id)
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def list_documents(
    connection: AsyncConnection,
    *,
    collections: Sequence[str] | None = None,
    status: DocumentStatus | None = None,
    source_contains: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[DocumentRecord], int]:
    """Return one page of documents, newest first (ties by id), and how many there are in all."""
    conditions: list[ColumnElement[bool]] = []
    if collections is not None:
        conditions.append(Collection.name.in_(collections))
    if status is not None:
        conditions.append(Document.status == status)
    if source_contains:
        conditions.append(Document.source.contains(source_contains, autoescape=True))
    total = await connection.scalar(
        select(func.count())
        .select_from(Document)
        .join(Collection, Collection.id == Document.collection_id)
        .where(*conditions)
    )
    page = _RECORD.where(*conditions).order_by(Document.created_at.desc(), Document.id).limit(limit).offset(offset)
    rows = await connection.execute(page)
    return [_record(row) for row in rows], total or 0


async def lock_source(connection: AsyncConnection, collection_id: int, source: str) -> None:
    """Let uploads of one source pass one after the other, until the end of the transaction."""
    await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"{collection_id}/{source}", 0))))


def _receiving() -> Executable:
    """Insert a row, or mark the one of the same source: until there is a version, it describes the last upload."""
    statement = insert(Document)
    newest = {
        column.key: case((Document.object_key.is_(None), statement.excluded[column.key]), else_=column)
        for column in (Document.file_name, Document.media_type, Document.size_bytes, Document.sha256)
    }
    return statement.on_conflict_do_update(
        index_elements=[Document.collection_id, Document.source],
        set_={"pending_key": statement.excluded.pending_key, **newest},
    ).returning(Document.id)


_RECEIVE = _receiving()  # made once: to make it takes longer than to run it


async def receive_document(
    connection: AsyncConnection,
    *,
    collection_id: int,
    source: str,
    file_name: str,
    media_type: str,
    size_bytes: int,
    sha256: bytes,
    object_key: str,
    new_id: UUID,
) -> UUID:
    """Make an accepted upload durable: a new row, or the mark ``pending_key`` on the row of the same source.

    A ready version stays as it is, and is found, until the new one is stored. Of several
    uploads of one source the one received last owns ``pending_key`` and wins.
    """
    values = {
        "id": new_id,
        "collection_id": collection_id,
        "source": source,
        "file_name": file_name,
        "media_type": media_type,
        "size_bytes": size_bytes,
        "sha256": sha256,
        "object_key": None,
        "pending_key": object_key,
        "status": DocumentStatus.RECEIVED,
    }
    document_id: UUID = (await connection.execute(_RECEIVE, values)).scalar_one()
    return document_id


async def set_status(connection: AsyncConnection, document_id: UUID, pending_key: str, status: DocumentStatus) -> None:
    """Show how far an upload has come, unless a ready version is being served or a newer upload took over."""
    await connection.execute(
        update(Document)
        .where(Document.id == document_id, Document.pending_key == pending_key, Document.status.not_in(READY))
        .values(status=status)
    )


async def fail_document(
    connection: AsyncConnection, document_id: UUID, pending_key: str, sha256: bytes, error: FuziError
) -> bool:
    """Record why an upload failed; a version that is being served stays untouched.

    Returns:
        True when the failed upload's original is now the document's own and must be kept.
    """
    mine = (Document.id == document_id, Document.pending_key == pending_key)
    reason = {"error_code": error.code, "error_message": error.message, "pending_key": None, "updated_at": func.now()}
    first_version = await connection.execute(
        update(Document)
        .where(*mine, Document.status.not_in(READY))
        .values(status=DocumentStatus.FAILED, object_key=pending_key, sha256=sha256, **reason)
    )
    if first_version.rowcount:
        return True
    await connection.execute(update(Document).where(*mine).values(**reason))
    return False


async def is_wanted(connection: AsyncConnection, document_id: UUID, pending_key: str) -> bool:
    """True while an accepted upload still is the newest one of its document."""
    query = select(Document.id).where(Document.id == document_id, Document.pending_key == pending_key)
    return await connection.scalar(query) is not None


async def want_again(connection: AsyncConnection, document_id: UUID, pending_key: str) -> bool:
    """Make a failed upload the newest one again; False when its document is gone or has a newer upload."""
    statement = (
        update(Document)
        .where(Document.id == document_id, Document.pending_key.is_(None))
        .values(
            pending_key=pending_key,
            status=case((Document.status == DocumentStatus.FAILED, DocumentStatus.RECEIVED), else_=Document.status),
        )
        .returning(Document.id)
    )
    return (await connection.execute(statement)).one_or_none() is not None


async def abandon_upload(connection: AsyncConnection, document_id: UUID, pending_key: str) -> None:
    """Forget an accepted upload; a document that never had a version goes with it."""
    mine = (Document.id == document_id, Document.pending_key == pending_key)
    await connection.execute(delete(Document).where(*mine, Document.text.is_(None), Document.object_key.is_(None)))
    await connection.execute(update(Document).where(*mine).values(pending_key=None))


async def update_description(
    connection: AsyncConnection, document_id: UUID, title: str | None, metadata: JsonObject | None
) -> None:
    """Set title and metadata of a stored document; None leaves the old value."""
    values: dict[str, Any] = {"updated_at": func.now()}
    if title is not None:
        values["title"] = title
    if metadata is not None:
        values["metadata_"] = dict(metadata)
    await connection.execute(update(Document).where(Document.id == document_id).values(**values))


async def delete_document(connection: AsyncConnection, document_id: UUID) -> list[str]:
    """Delete a document with its chunks.

    Returns:
        The keys of its originals, to be deleted after the commit.

    Raises:
        DocumentNotFound: there is none with this id.
    """
    statement = delete(Document).where(Document.id == document_id).returning(Document.object_key, Document.pending_key)
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        raise DocumentNotFound(f"there is no document {document_id}", document_id=str(document_id))
    return [key for key in row if key is not None]
