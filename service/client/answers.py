"""What the server answers, as the client gives it on."""

from __future__ import annotations

from typing import Any, TypedDict


class DocumentJson(TypedDict):
    """A document without its text; ``sha256`` in hexadecimal digits, times in ISO 8601."""

    document_id: str
    collection: str
    source: str
    file_name: str
    title: str | None
    media_type: str
    size_bytes: int
    sha256: str
    status: str
    error_code: str | None
    error_message: str | None
    warnings: list[dict[str, Any]]
    metadata: dict[str, Any]
    parent_count: int
    child_count: int
    created_at: str
    updated_at: str


class DocumentListJson(TypedDict):
    """One page of documents, newest first."""

    documents: list[DocumentJson]
    total: int
    limit: int
    offset: int


class UploadJson(TypedDict):
    """What an upload did: ``outcome`` is created, replaced, updated or unchanged."""

    document_id: str
    source: str
    collection: str
    outcome: str
    status: str
    parent_count: int
    child_count: int
    warnings: list[dict[str, Any]]
    duplicate_of: str | None
    timings_ms: dict[str, float]
    job_id: str | None
    embedded_count: int
    reused_count: int


class SearchJson(TypedDict):
    """Passages in final order; ``explanation`` is there when it was asked for, ``search_id`` is for feedback."""

    search_id: str | None
    passages: list[dict[str, Any]]
    timings_ms: dict[str, float]
    warnings: list[dict[str, Any]]
    completeness: dict[str, Any] | None
    corpus_revision: int | None
    explanation: dict[str, Any] | None


class OutcomeJson(TypedDict):
    """What became of one query of a batch; ``error`` has code, message, retryable and details."""

    answer: SearchJson | None
    error: dict[str, Any] | None
