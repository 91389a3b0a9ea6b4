"""What happens to a job: begin, show, end, put back. Callers own the transaction; nothing here commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.job_models import Job
from service.errors import FuziError, JobCancelled
from service.queue.jobs import JobRecord, JobStatus, jobs_of
from service.types import DocumentStatus, IngestOutcome


@dataclass(slots=True)
class JobProgress:
    """How far an embedding step has come; written to the job with each heartbeat. Both last counts come at its end."""

    child_count: int | None = None
    done_count: int = 0
    embedded_count: int = 0
    reused_count: int = 0

    def embedded(self, done_count: int) -> None:
        """Note that so many child chunks have their vector."""
        self.done_count = done_count


async def begin_attempt(connection: AsyncConnection, job_id: UUID, status: DocumentStatus) -> int | None:
    """Count a new attempt and show its first stage; return how many there were, None when the job is finished."""
    statement = (
        update(Job)
        .where(Job.id == job_id, Job.finished_at.is_(None))
        .values(attempts=Job.attempts + 1, done_count=0, started_at=func.now(), heartbeat_at=func.now(), status=status)
        .returning(Job.attempts)
    )
    attempts: int | None = await connection.scalar(statement)
    return attempts


async def heartbeat(connection: AsyncConnection, job_id: UUID, progress: JobProgress) -> bool:
    """Say that the job is being worked on, and how far; False when the work is to stop: cancelled or gone."""
    statement = (
        update(Job)
        .where(Job.id == job_id)
        .values(
            heartbeat_at=func.now(),
            child_count=func.coalesce(progress.child_count, Job.child_count),
            done_count=func.greatest(progress.done_count, Job.done_count),
        )
        .returning(Job.cancel_requested, Job.status)
    )
    row = (await connection.execute(statement)).one_or_none()
    return row is not None and not row.cancel_requested and row.status != JobStatus.CANCELLED


async def hand_back(connection: AsyncConnection, job_id: UUID) -> None:
    """Take back an attempt that a shutdown cut short: it was not the upload's fault."""
    await connection.execute(
        update(Job)
        .where(Job.id == job_id, Job.finished_at.is_(None))
        .values(attempts=func.greatest(Job.attempts - 1, 0), status=JobStatus.RECEIVED, heartbeat_at=None)
    )


async def show_stage(connection: AsyncConnection, job_id: UUID, status: DocumentStatus, **done: Any) -> None:
    """Show which stage the work is in, with what the one before has `done`: `extracted_text`, `embedded_chunks`."""
    await _set_unfinished(connection, job_id, status=status, **done)


def extracted_text(packed: bytes) -> dict[str, Any]:
    """The extracted text, kept for a retry from a later stage."""
    return {"extracted": packed}


def embedded_chunks(child_count: int, embedded_count: int, reused_count: int) -> dict[str, Any]:
    """All child chunks have their vectors: how many were embedded, how many known before."""
    counts = {"embedded_count": embedded_count, "reused_count": reused_count}
    return {"child_count": child_count, "done_count": child_count, **counts}


async def kept_extracted(connection: AsyncConnection, job_id: UUID) -> bytes | None:
    """Return the `extracted_text` that was kept, or None."""
    return await connection.scalar(select(Job.extracted).where(Job.id == job_id))


async def finish_job(
    connection: AsyncConnection,
    job_id: UUID,
    status: DocumentStatus,
    outcome: IngestOutcome,
    timings_ms: Mapping[str, float],
) -> None:
    """End a job whose version is stored; belongs in the transaction that stores it."""
    await _set(
        connection,
        job_id,
        status=status,
        outcome=outcome,
        timings_ms=dict(timings_ms),
        error_code=None,
        error_message=None,
        failed_stage=None,
        extracted=None,
        finished_at=func.now(),
    )


async def note_failure(connection: AsyncConnection, job_id: UUID, error: FuziError, stage: str, *, final: bool) -> None:
    """Record why an attempt failed; ``final`` makes it a dead letter that only a retry brings back."""
    ended: dict[str, Any] = (
        {"status": JobStatus.FAILED, "finished_at": func.now()}
        if final
        else {"status": JobStatus.RECEIVED, "heartbeat_at": None}
    )
    reason = {"error_code": error.code, "error_message": error.message, "failed_stage": stage}
    await _set_unfinished(connection, job_id, **reason, **ended)


def _cancelled(message: str) -> dict[str, Any]:
    return {
        "status": JobStatus.CANCELLED,
        "error_code": JobCancelled.code,
        "error_message": message,
        "extracted": None,
        "finished_at": func.now(),
    }


async def end_cancelled(connection: AsyncConnection, job_id: UUID, message: str) -> bool:
    """End an unfinished job that nobody wants any more: cancelled, superseded, or its document was deleted.

    Returns:
        False when it had ended already. Whoever ended it has seen to its document and its original.
    """
    return await _set_unfinished(connection, job_id, **_cancelled(message))


async def end_all_cancelled(connection: AsyncConnection, document_id: UUID, message: str) -> None:
    """End every job of a document that might still go on, dead letters included: there is nothing left for them."""
    await connection.execute(
        update(Job)
        .where(Job.document_id == document_id, or_(Job.finished_at.is_(None), Job.status == JobStatus.FAILED))
        .values(**_cancelled(message))
    )


async def request_cancel(connection: AsyncConnection, job_id: UUID) -> None:
    """Ask the worker that has the job, if any, to stop it."""
    await _set(connection, job_id, cancel_requested=True)


async def reopen(connection: AsyncConnection, job_id: UUID, queue_job_id: int) -> None:
    """Make a dead letter an open job again, with fresh attempts; kept text lets it go on where it failed."""
    await _set(
        connection,
        job_id,
        status=JobStatus.RECEIVED,
        attempts=0,
        cancel_requested=False,
        finished_at=None,
        heartbeat_at=None,
        queue_job_id=queue_job_id,
    )


async def stalled_jobs(connection: AsyncConnection, lease_seconds: float) -> list[JobRecord]:
    """Lock and return unfinished jobs that no worker has and that no longer wait in the queue.

    A worker has a job while its last heartbeat is younger than the lease.
    """
    out_of_line = text(
        "not exists (select from queue.procrastinate_jobs as q where q.id = job.queue_job_id and q.status = 'todo')"
    )
    silent = func.now() - timedelta(seconds=lease_seconds)
    stalled = (
        select(Job.id)
        .where(
            Job.finished_at.is_(None),
            func.coalesce(Job.heartbeat_at, Job.started_at, Job.created_at) < silent,
            out_of_line,
        )
        .with_for_update(skip_locked=True)
    )
    ids = list(await connection.scalars(stalled))
    return await jobs_of(connection, ids)


async def take_out_ended(connection: AsyncConnection, lease_seconds: float) -> int:
    """Take entries out of the line whose job has ended, but whose worker died before it could say so to the queue.

    Jobs of one document run one after the other: such an entry would hold back all later uploads of its document.
    """
    ended = text("""
        delete from queue.procrastinate_jobs as q
        where q.status = 'doing' and not exists (
            select from rag.job as j
            where j.queue_job_id = q.id
                and (j.finished_at is null or j.finished_at > now() - make_interval(secs => :lease_seconds))
        )
    """)
    return (await connection.execute(ended, {"lease_seconds": lease_seconds})).rowcount


async def requeued(connection: AsyncConnection, job_id: UUID, queue_job_id: int) -> None:
    """Note the new place in line of a job whose worker died."""
    await _set(connection, job_id, queue_job_id=queue_job_id, status=JobStatus.RECEIVED, heartbeat_at=func.now())


async def forget_old_jobs(connection: AsyncConnection, keep_days: float) -> int:
    """Delete jobs that ended, other than by failing, more than ``keep_days`` ago; return how many."""
    done = await connection.execute(
        delete(Job).where(Job.finished_at < func.now() - timedelta(days=keep_days), Job.status != JobStatus.FAILED)
    )
    return done.rowcount


async def _set_unfinished(connection: AsyncConnection, job_id: UUID, **values: Any) -> bool:
    """Change a job unless it has ended: a worker that fell silent may find that another one has done its job."""
    statement = update(Job).where(Job.id == job_id, Job.finished_at.is_(None)).values(**values)
    return (await connection.execute(statement)).rowcount > 0


async def _set(connection: AsyncConnection, job_id: UUID, **values: Any) -> None:
    await connection.execute(update(Job).where(Job.id == job_id).values(**values))
