"""JOB FLOWS: wait for a job, cancel it, take it up again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import LimitSettings
from service.errors import DocumentNotFound, JobCancelled, WrongJobState, error_of
from service.flows.receive import Accepted
from service.queue.attempts import end_cancelled, reopen, request_cancel
from service.queue.jobs import JobRecord, JobStatus, get_job, newer_dead_letter
from service.queue.queue import JobQueue, lane_of, take_out
from service.store.chunks import lock_document
from service.store.documents import abandon_upload, find_duplicate, get_document, want_again
from service.store.removals import note_unless_served
from service.types import IngestOutcome, IngestResult, Notice

_FIRST_LOOK_SECONDS = 0.05
_LONGEST_LOOK_SECONDS = 0.5

type JobWatch = Callable[[JobRecord], None]


async def wait_for(engine: AsyncEngine, job_id: UUID, watch: JobWatch | None = None) -> JobRecord:
    """Wait until a job is finished and return it; ``watch`` hears of it at every look.

    Raises:
        JobNotFound: there is no such job (any more).
    """
    pause = _FIRST_LOOK_SECONDS
    while True:
        async with engine.connect() as connection:
            job = await get_job(connection, job_id)
        if watch is not None:
            watch(job)
        if job.is_finished:
            return job
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_LOOK_SECONDS)


async def result_of(engine: AsyncEngine, accepted: Accepted, watch: JobWatch | None = None) -> IngestResult:
    """Wait until an accepted upload is searchable and return what became of it.

    Raises:
        FuziError: the upload failed; the error is the one recorded with the job.
        JobCancelled: it was cancelled, a newer upload took over, or the document was deleted, if only a moment ago.
    """
    job = await wait_for(engine, accepted.job_id, watch)
    facts = {"document_id": str(job.document_id), "job_id": str(job.id)}
    if job.status in {JobStatus.FAILED, JobStatus.CANCELLED}:
        raise error_of(job.error_code or JobCancelled.code, job.error_message or "it was cancelled", **facts)
    async with engine.connect() as connection:
        try:
            document = await get_document(connection, job.document_id)
        except DocumentNotFound:
            raise JobCancelled("its document was deleted", **facts) from None
        duplicate_of = await find_duplicate(connection, job.collection_id, job.sha256, job.document_id)
    return IngestResult(
        document_id=job.document_id,
        source=job.source,
        collection=job.collection,
        outcome=IngestOutcome(job.outcome or IngestOutcome.CREATED),
        status=document.status,
        parent_count=document.parent_count,
        child_count=document.child_count,
        warnings=tuple(Notice(**notice) for notice in document.warnings),
        duplicate_of=duplicate_of,
        timings_ms=job.timings_ms,
        job_id=job.id,
        embedded_count=job.embedded_count,
        reused_count=job.reused_count,
    )


async def cancel(engine: AsyncEngine, job_id: UUID) -> JobRecord:
    """Cancel a job: one that waits ends at once, one that is at work within seconds.

    Raises:
        JobNotFound: there is no such job.
        WrongJobState: it is finished.
    """
    async with engine.begin() as connection:
        job = await get_job(connection, job_id)
        if job.is_finished:
            raise WrongJobState(f"the job has ended already: {job.status}", status=job.status)
        await lock_document(connection, job.document_id, job.object_key)
        await request_cancel(connection, job_id)
        if job.started_at is None or job.status == JobStatus.RECEIVED:
            await take_out(connection, job.queue_job_id)
            if await end_cancelled(connection, job_id, "it was cancelled"):
                await abandon_upload(connection, job.document_id, job.object_key)
                await note_unless_served(connection, job.document_id, job.object_key)
        return await get_job(connection, job_id)


async def retry(engine: AsyncEngine, queue: JobQueue, limits: LimitSettings, job_id: UUID) -> JobRecord:
    """Put a failed job back in line; it goes on after the last step that was done.

    Raises:
        JobNotFound: there is no such job.
        WrongJobState: it has not failed, its document was deleted, or a newer upload of its source was accepted.
    """
    async with engine.begin() as connection:
        job = await get_job(connection, job_id)
        if job.status != JobStatus.FAILED:
            raise WrongJobState(f"only a failed job can be retried; this one is {job.status}", status=job.status)
        if not await want_again(connection, job.document_id, job.object_key):
            raise WrongJobState("the document was deleted, or a newer upload of its source was accepted")
        # Only now: the row is ours, so an upload that is failing at this moment has failed or waits for us.
        newer = await newer_dead_letter(connection, job)
        if newer is not None:
            raise WrongJobState(
                f"a newer upload of its source was accepted, and failed too: retry that one, or upload the file again "
                f"(job {newer})",
                status=job.status,
                newer_job_id=str(newer),
            )
        lane = lane_of(job.size_bytes, limits)
        queue_job_id = await queue.put(connection, job.id, job.document_id, lane, priority=0)
        await reopen(connection, job.id, queue_job_id)
        return await get_job(connection, job_id)
