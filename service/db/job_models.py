"""Tables of ingestion jobs and of the outbox of originals, as SQLAlchemy sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index
from sqlalchemy import text as sql_text
from sqlalchemy.orm import Mapped, mapped_column

from service.db.models import Model

_NOW = sql_text("now()")
_EMPTY_OBJECT = sql_text("'{}'::jsonb")


class Job(Model):
    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint(
            "status in ('received', 'extracting', 'splitting', 'embedding', 'storing',"
            " 'ready', 'ready_with_warnings', 'failed', 'cancelled')",
            name="status",
        ),
        Index(None, "document_id"),
        Index(None, "created_at", "id"),
        Index(
            "job_unfinished_idx",
            "collection_id",
            postgresql_where=sql_text("finished_at is null"),
        ),
        Index(
            "job_dead_letter_idx",
            "collection_id",
            postgresql_where=sql_text("status = 'failed'"),
        ),
        {"comment": "One accepted upload on its way into the indexes, and what became of it"},
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, comment="Public key")
    document_id: Mapped[UUID] = mapped_column(comment="Document it makes or replaces; may be deleted since")
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("rag.collection.id", ondelete="CASCADE"), comment="Collection of the document"
    )
    source: Mapped[str] = mapped_column(comment="Source of the document")
    file_name: Mapped[str] = mapped_column(comment="File name as uploaded")
    declared_type: Mapped[str | None] = mapped_column(comment="Media type the caller declared")
    object_key: Mapped[str] = mapped_column(comment="Key of the upload's original in the object store")
    size_bytes: Mapped[int] = mapped_column(BigInteger, comment="Size of the original in bytes")
    sha256: Mapped[bytes] = mapped_column(comment="SHA-256 of the original")
    title: Mapped[str | None] = mapped_column(comment="Title the caller gave")
    metadata_: Mapped[dict[str, Any] | None] = mapped_column("metadata", comment="Metadata the caller gave")
    status: Mapped[str] = mapped_column(
        server_default=sql_text("'received'"),
        comment="Stage of the work, or ready, ready_with_warnings, failed, cancelled",
    )
    failed_stage: Mapped[str | None] = mapped_column(comment="Stage in which the last attempt failed")
    attempts: Mapped[int] = mapped_column(server_default=sql_text("0"), comment="How often the work was begun")
    extracted: Mapped[bytes | None] = mapped_column(
        comment="Extracted text kept for a retry from a later stage, packed; null when finished"
    )
    child_count: Mapped[int | None] = mapped_column(comment="Child chunks to embed")
    done_count: Mapped[int] = mapped_column(
        server_default=sql_text("0"), comment="Child chunks that have their vector by now"
    )
    embedded_count: Mapped[int] = mapped_column(server_default=sql_text("0"), comment="Child chunks embedded anew")
    reused_count: Mapped[int] = mapped_column(server_default=sql_text("0"), comment="Child chunks with a known vector")
    outcome: Mapped[str | None] = mapped_column(comment="created or replaced")
    error_code: Mapped[str | None] = mapped_column(comment="Stable code of the last failure")
    error_message: Mapped[str | None] = mapped_column(comment="Reason of the last failure in words")
    timings_ms: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Milliseconds of each step of the last attempt"
    )
    queue_job_id: Mapped[int | None] = mapped_column(BigInteger, comment="Its entry in the queue's own tables")
    cancel_requested: Mapped[bool] = mapped_column(
        server_default=sql_text("false"), comment="True when somebody asked to stop it"
    )
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the upload was accepted")
    started_at: Mapped[datetime | None] = mapped_column(comment="When the last attempt began")
    heartbeat_at: Mapped[datetime | None] = mapped_column(
        comment="When the worker that has it last said so; an old one frees the job"
    )
    finished_at: Mapped[datetime | None] = mapped_column(comment="When it came to an end")


class OriginalRemoval(Model):
    __tablename__ = "original_removal"
    __table_args__ = ({"comment": "Originals that nothing refers to any more and that are still to be deleted"},)

    object_key: Mapped[str] = mapped_column(primary_key=True, comment="Key in the object store")
    noted_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the last reference went away")
    attempts: Mapped[int] = mapped_column(server_default=sql_text("0"), comment="Deletions that failed")
