"""What the REST service says about documents, in JSON. Offsets are half open and count Unicode code points."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from service.types import BlockType, DocumentStatus, IngestOutcome, TextFormat


class Answer(BaseModel):
    """Root of all answers: read from the attributes of our own values, or from keyword arguments."""

    model_config = ConfigDict(from_attributes=True)


class Asked(BaseModel):
    """Root of everything a caller sends: a misspelt field is refused, never ignored."""

    model_config = ConfigDict(extra="forbid", str_max_length=10_000)


def storable(text: str) -> str:
    """Refuse what PostgreSQL cannot store: NUL and lone surrogates."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("must not contain NUL or half of a surrogate pair")
    return text


Storable = Annotated[str, AfterValidator(storable)]


class NoticeAnswer(Answer):
    """A warning; ``page`` names the page it concerns, if one."""

    code: str
    message: str
    page: int | None = None


class AcceptedAnswer(Answer):
    """An upload that is durable and queued; its job tells how far it has come."""

    document_id: UUID
    job_id: UUID
    source: str
    collection: str


class UploadAnswer(Answer):
    """What an upload did. ``timings_ms`` is empty when there was nothing to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "document_id": "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11",
                "source": "制度/差旅报销.docx",
                "collection": "default",
                "outcome": "created",
                "status": "ready",
                "parent_count": 6,
                "child_count": 23,
                "warnings": [],
                "duplicate_of": None,
                "timings_ms": {"extract_ms": 41.2, "split_ms": 0.9, "embed_ms": 812.4, "store_ms": 18.8},
            }
        }
    )

    document_id: UUID
    source: str
    collection: str
    outcome: IngestOutcome
    status: DocumentStatus
    parent_count: int
    child_count: int
    warnings: list[NoticeAnswer]
    duplicate_of: UUID | None = Field(description="oldest other document of the collection with the same bytes")
    timings_ms: dict[str, float]
    job_id: UUID | None = Field(None, description="the job that did it; null when there was nothing to do")
    embedded_count: int = Field(0, description="child chunks embedded anew")
    reused_count: int = Field(0, description="child chunks whose vector was known")


class DocumentAnswer(Answer):
    """A document without its text. An error code beside a ready status tells of a failed replacement."""

    document_id: UUID
    collection: str
    source: str
    file_name: str
    title: str | None
    media_type: str
    size_bytes: int
    sha256: str = Field(description="of the original, in hexadecimal digits")
    status: DocumentStatus
    error_code: str | None
    error_message: str | None
    warnings: list[NoticeAnswer]
    metadata: dict[str, Any]
    parent_count: int
    child_count: int
    page_count: int = Field(description="pages, slides or sheets; 0 where the file has none")
    created_at: datetime
    updated_at: datetime


class DocumentList(Answer):
    """One page of documents, newest first; ``total`` counts all that the filters let through."""

    documents: list[DocumentAnswer]
    total: int
    limit: int
    offset: int


class DocumentQuery(Asked):
    """Which documents to list."""

    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=2**31 - 1)
    collection: Storable | None = None
    status: DocumentStatus | None = None
    source: Storable | None = Field(None, description="part of the source")


class BlockAnswer(Answer):
    """A structural block; ``level`` is 1 to 6 for headings, the depth from 0 for list items, else 0."""

    type: BlockType
    level: int
    start: int
    end: int
    page: int | None


class PageAnswer(Answer):
    """A page, slide or sheet; ``number`` starts at 1."""

    number: int
    start: int
    end: int
    label: str | None


class TextAnswer(Answer):
    """The extracted text that all offsets refer to, with its structure."""

    document_id: UUID
    title: str | None
    media_type: str
    format: TextFormat
    text: str
    blocks: list[BlockAnswer]
    pages: list[PageAnswer]
    metadata: dict[str, Any] = Field(description="the caller's")
    extracted_metadata: dict[str, Any] = Field(description="the file's own")
    warnings: list[NoticeAnswer]
    extractor: str
    extractor_version: str


class ParentAnswer(Answer):
    """A parent chunk: ``text[start:end] == content``."""

    chunk_id: UUID
    ordinal: int
    start: int
    end: int
    content: str
    heading_path: list[str] = Field(description="from the outermost heading to the innermost")
    first_page: int | None
    last_page: int | None
    token_estimate: int


class ChildAnswer(Answer):
    """A child chunk: ``text[start:end] == content``."""

    chunk_id: UUID
    ordinal: int
    parent_chunk_id: UUID
    parent_ordinal: int
    start: int
    end: int
    content: str
    first_page: int | None
    last_page: int | None


class ChunksAnswer(Answer):
    """All chunks of a document, by ordinal."""

    document_id: UUID
    parents: list[ParentAnswer]
    children: list[ChildAnswer]


class Problem(Answer):
    """Why a service is not ready."""

    code: str
    message: str


class HealthAnswer(Answer):
    """Whether the process is alive."""

    status: str = Field(examples=["alive"])


class ReplicaAnswer(Answer):
    """The database of ``FUZI_DATABASE__READ_URL``; while it is not ``used``, searches are answered by the primary.

    ``lag_bytes`` of the primary's log it has not applied; what it shows is at most ``lag_seconds`` old. Null: unknown.
    """

    used: bool
    reason: str | None = Field(description="why it is not used", examples=["behind", "unreachable"])
    message: str
    lag_bytes: int | None
    lag_seconds: float | None


class ReadyAnswer(Answer):
    """Whether searches and uploads can be served; ``degraded`` means yes, but not as well as usual; see ``reasons``.

    ``replica`` is null where none is set. One that is not used is no reason: nothing is missing from the answers.
    """

    status: str = Field(examples=["ready", "degraded", "not_ready"])
    reasons: list[Problem]
    replica: ReplicaAnswer | None = None


class ErrorBody(Answer):
    """``retryable`` is true when the same request may succeed later."""

    code: str = Field(examples=["document_not_found"])
    message: str = Field(examples=["there is no document 0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11"])
    retryable: bool
    request_id: str
    details: dict[str, Any]


class ErrorAnswer(Answer):
    """The shape of every error."""

    error: ErrorBody
