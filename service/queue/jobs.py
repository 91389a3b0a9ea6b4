"""Job rows: add and read. Callers own the transaction; nothing here commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.job_models import Job
from service.db.models import Collection
from service.errors import JobNotFound
from service.types import ANYONE, JsonObject, Principal


class JobStatus(StrEnum):
    """Where an upload stands: the stages of a document, and ``cancelled``; the last four are final."""

    RECEIVED = "received"
    EXTRACTING = "extracting"
    SPLITTING = "splitting"
    EMBEDDING = "embedding"
    STORING = "storing"
    READY = "ready"
    READY_WITH_WARNINGS = "ready_with_warnings"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job without its kept text. ``error_code`` of an unfinished job tells why its last attempt failed."""

    id: UUID
    document_id: UUID
    collection: str
    collection_id: int
    source: str
    file_name: str
    declared_type: str | None
    object_key: str
    size_bytes: int
    sha256: bytes
    title: str | None
    metadata: JsonObject | None
    status: JobStatus
    failed_stage: str | None
    attempts: int
    child_count: int | None
    done_count: int
    embedded_count: int
    reused_count: int
    outcome: str | None
    error_code: str | None
    error_message: str | None
    timings_ms: Mapping[str, float]
    queue_job_id: int | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def is_finished(self) -> bool:
        """True when nothing more will happen to it unless somebody asks for a retry."""
        return self.finished_at is not None


_FIELDS = [name for name in JobRecord.__slots__ if name not in {"collection", "metadata"}]
_RECORD: Select[Any] = select(
    *(getattr(Job, name) for name in _FIELDS), Job.metadata_.label("metadata"), Collection.name.label("collection")
).join(Collection, Collection.id == Job.collection_id)


def _record(row: Any) -> JobRecord:
    return JobRecord(**{**row._mapping, "status": JobStatus(row.status)})


async def add_job(connection: AsyncConnection, **values: Any) -> None:
    """Note an accepted upload; the keys of ``values`` are those of the table.

    The caller holds the lock of the source: the clock, unlike the start of the transaction, tells who came last.
    """
    await connection.execute(insert(Job).values(created_at=func.clock_timestamp(), **values))


async def get_job(connection: AsyncConnection, job_id: UUID, seen_by: Principal = ANYONE) -> JobRecord:
    """Return one job.

    Raises:
        JobNotFound: there is none with this id, or its collection is hidden from ``seen_by``.
    """
    row = (await connection.execute(_RECORD.where(Job.id == job_id))).one_or_none()
    if row is None or not seen_by.may_see(row.collection):
        raise JobNotFound(f"there is no job {job_id}", job_id=str(job_id))
    return _record(row)


async def list_jobs(
    connection: AsyncConnection,
    *,
    document_id: UUID | None = None,
    collections: Sequence[str] | None = None,
    status: JobStatus | None = None,
    unfinished: bool | None = None,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[JobRecord], int]:
    """Return one page of jobs, newest first (ties by id), and how many there are in all."""
    conditions: list[ColumnElement[bool]] = []
    if document_id is not None:
        conditions.append(Job.document_id == document_id)
    if collections is not None:
        conditions.append(Collection.name.in_(collections))
    if status is not None:
        conditions.append(Job.status == status)
    if unfinished is not None:
        conditions.append(Job.finished_at.is_(None) if unfinished else Job.finished_at.is_not(None))
    joined = select(func.count()).select_from(Job).join(Collection, Collection.id == Job.collection_id)
    total = await connection.scalar(joined.where(*conditions))
    page = _RECORD.where(*conditions).order_by(Job.created_at.desc(), Job.id).limit(limit).offset(offset)
    return [_record(row) for row in await connection.execute(page)], total or 0


async def jobs_of(connection: AsyncConnection, job_ids: Sequence[UUID]) -> list[JobRecord]:
    """Return the jobs with these ids that exist, in no particular order."""
    return [_record(row) for row in await connection.execute(_RECORD.where(Job.id.in_(job_ids)))]


async def waiting_job(connection: AsyncConnection, document_id: UUID, object_key: str) -> JobRecord | None:
    """Return the unfinished job that is to store this upload, or None."""
    query = _RECORD.where(
        Job.document_id == document_id, Job.object_key == object_key, Job.finished_at.is_(None)
    ).limit(1)
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else _record(row)


async def newer_dead_letter(connection: AsyncConnection, job: JobRecord) -> UUID | None:
    """Return the job of the last upload of this document that was accepted after ``job`` and failed, or None.

    A newer one that was stored, or still waits, is told by the document; a cancelled one is as if it had never come.
    """
    query = (
        select(Job.id)
        .where(Job.document_id == job.document_id, Job.status == JobStatus.FAILED, Job.created_at > job.created_at)
        .where(Job.object_key != job.object_key)
        .order_by(Job.created_at.desc(), Job.id)
        .limit(1)
    )
    found: UUID | None = await connection.scalar(query)
    return found


async def waiting_count(connection: AsyncConnection, collection_id: int, most: int) -> int:
    """Return how many jobs of a collection are not finished, ``most`` where they are more."""
    waiting = select(Job.id).where(Job.collection_id == collection_id, Job.finished_at.is_(None)).limit(most)
    return await connection.scalar(select(func.count()).select_from(waiting.subquery())) or 0
