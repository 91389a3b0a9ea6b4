"""The extracted text of a document as it is stored, and how it was made into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import Document
from service.store.documents import NO_ORIGINAL, READY
from service.types import ExtractedText
from service.types.extracted import extracted_of


@dataclass(frozen=True, slots=True)
class StoredText:
    """Text of the served version, with the title it has now; ``fingerprint`` is of the settings in force then."""

    extracted: ExtractedText
    fingerprint: str


async def stored_text(connection: AsyncConnection, document_id: UUID, object_key: str) -> StoredText | None:
    """The text that the served version has, if it was made of the original ``object_key``."""
    key = Document.object_key.is_(None) if object_key == NO_ORIGINAL else Document.object_key == object_key
    query = select(Document).where(Document.id == document_id, key, Document.status.in_(READY))
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else StoredText(extracted_text(row, row.title), row.split_settings_hash or "")


def extracted_text(row: Any, title: str | None = None) -> ExtractedText:
    """What a row of ``rag.document`` keeps of an `ExtractedText`; the title is the document's, and not of the text."""
    return extracted_of(
        {
            "text": row.text,
            "format": row.text_format,
            "media_type": row.media_type,
            "blocks": row.blocks,
            "pages": row.pages,
            "title": title,
            "metadata": row.extracted_metadata,
            "warnings": row.warnings,
            "extractor": row.extractor or "",
            "extractor_version": row.extractor_version or "",
        }
    )
