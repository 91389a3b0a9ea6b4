"""WORK FLOW: begin → ingest, which fetches the original if need be → end, or decide about another try."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import JobSettings
from service.db.engine import database_errors
from service.errors import (
    Conflict,
    DatabaseUnavailable,
    FuziError,
    JobAbandoned,
    JobCancelled,
    ModelNotFollowed,
    Unavailable,
)
from service.flows.temporary import JOB_PREFIX
from service.ingest import IngestParts, ingest
from service.metrics import Metrics
from service.queue.attempts import (
    JobProgress,
    begin_attempt,
    end_cancelled,
    hand_back,
    heartbeat,
    note_failure,
)
from service.queue.jobs import JobRecord, jobs_of
from service.queue.queue import RetryLater
from service.steps import Steps
from service.store.chunks import lock_document
from service.store.documents import abandon_upload, fail_document, is_wanted, set_status
from service.store.originals import Originals
from service.store.removals import note_unless_served
from service.tracing import span
from service.types import DocumentStatus

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class WorkParts:
    """What working on jobs takes."""

    engine: AsyncEngine
    originals: Originals
    ingest: IngestParts
    settings: JobSettings
    metrics: Metrics = field(default_factory=Metrics)


async def run_job(parts: WorkParts, job_id: UUID) -> None:
    """Do one job from the queue, as far as it goes this time.

    Whatever happens is recorded with the job and its document: stored, failed for good (a dead letter), cancelled.

    Raises:
        RetryLater: a part was out of reach; the job goes back in line.
        CancelledError: this worker stops; the job goes back in line and the attempt does not count.
    """
    attributes = {"fuzi.job_id": str(job_id)}
    with structlog.contextvars.bound_contextvars(job_id=str(job_id)), span("job", attributes, kind="consumer"):
        try:
            with database_errors():
                job = await _begin(parts, job_id)
                if job is not None:
                    await _attempt(parts, job)
        except asyncio.CancelledError:
            await asyncio.shield(_hand_back(parts, job_id))
            raise
        except (DatabaseUnavailable, Conflict) as error:
            # Nothing can be recorded now; the lease runs out, or the queue tries again.
            log.warning("job_lost_the_database", message=error.message)
            raise RetryLater(parts.settings.backoff_seconds) from error


async def _attempt(parts: WorkParts, job: JobRecord) -> None:
    """Work on a job that was begun, and record what came of it."""
    steps, progress = Steps(), JobProgress()
    try:
        with database_errors():
            await _while_wanted(parts, job, progress, _fetch_and_ingest(parts, job, steps, progress))
    except JobCancelled as reason:
        parts.metrics.attempt_ended("cancelled", steps.timings_ms(), reason.code)
        await _cancel(parts, job, reason)
    except DatabaseUnavailable as error:
        parts.metrics.attempt_ended("again", steps.timings_ms(), error.code)
        raise
    except ModelNotFollowed as error:
        parts.metrics.attempt_ended("again", steps.timings_ms(), error.code)
        await _leave_to_others(parts, job, error, steps.current)
    except FuziError as error:
        await _fail(parts, job, error, steps)
    except Exception as error:
        log.exception("job_broke")
        await _fail(parts, job, FuziError(f"unexpected {type(error).__name__}: {error}"), steps)
    else:
        parts.metrics.attempt_ended("stored", steps.timings_ms())
        parts.metrics.texts_embedded(progress.embedded_count, progress.reused_count)


async def _begin(parts: WorkParts, job_id: UUID) -> JobRecord | None:
    """Count the attempt; None when there is nothing to do any more."""
    async with parts.engine.begin() as connection:
        job = next(iter(await jobs_of(connection, [job_id])), None)
        if job is None or job.is_finished:
            return None
        wanted = not job.cancel_requested and await is_wanted(connection, job.document_id, job.object_key)
        # the document before its job, in this order everywhere, so that no two transactions wait for each other
        if wanted:
            await set_status(connection, job.document_id, job.object_key, DocumentStatus.EXTRACTING)
        attempts = await begin_attempt(connection, job_id, DocumentStatus.EXTRACTING)
        if attempts is None:
            return None
        job = replace(job, attempts=attempts)
    if not wanted:
        await _cancel(parts, job, JobCancelled("it was cancelled, its document deleted, or a newer upload accepted"))
        return None
    if job.attempts > parts.settings.attempts:
        error = JobAbandoned(
            f"given up after {parts.settings.attempts} attempts: {job.error_message or 'workers died'}"
        )
        parts.metrics.attempt_ended("failed", {}, error.code)
        await _record_failure(parts, job, error, job.failed_stage or "extract", final=True)
        return None
    return job


async def _fetch_and_ingest(parts: WorkParts, job: JobRecord, steps: Steps, progress: JobProgress) -> None:
    with _temporary_folder() as folder:

        async def fetch() -> Path:
            original = Path(folder) / "original"
            await parts.originals.fetch(job.object_key, original)
            return original

        await ingest(parts.ingest, job, fetch, steps, progress)


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix=JOB_PREFIX)
    except OSError as error:  # no fault of the file: a full disk, most likely
        raise Unavailable(f"no temporary folder can be made: {error}") from error


async def _while_wanted(
    parts: WorkParts, job: JobRecord, progress: JobProgress, work: Coroutine[Any, Any, None]
) -> None:
    """Do the work, saying every few seconds that this worker is alive; stop it when nobody wants it any more."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({task}, timeout=parts.settings.heartbeat_seconds))[0]:
            if not await _say_alive(parts, job, progress):
                raise JobCancelled("it was cancelled, or its document was deleted")
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _say_alive(parts: WorkParts, job: JobRecord, progress: JobProgress) -> bool:
    try:
        with database_errors():
            async with parts.engine.begin() as connection:
                return await heartbeat(connection, job.id, progress)
    except DatabaseUnavailable as error:
        log.warning("heartbeat_missed", message=error.message)
        return True


async def _hand_back(parts: WorkParts, job_id: UUID) -> None:
    async with parts.engine.begin() as connection:
        await hand_back(connection, job_id)


async def _cancel(parts: WorkParts, job: JobRecord, reason: JobCancelled) -> None:
    log.info("job_cancelled", message=reason.message)
    async with parts.engine.begin() as connection:
        await lock_document(connection, job.document_id, job.object_key)
        if await end_cancelled(connection, job.id, reason.message):
            await abandon_upload(connection, job.document_id, job.object_key)
            await note_unless_served(connection, job.document_id, job.object_key)


async def _fail(parts: WorkParts, job: JobRecord, error: FuziError, steps: Steps) -> None:
    """Try again later when that can help and tries are left; else make it a dead letter."""
    final = not error.retryable or job.attempts >= parts.settings.attempts
    parts.metrics.attempt_ended("failed" if final else "again", steps.timings_ms(), error.code)
    log.warning("job_failed", code=error.code, message=error.message, stage=steps.current, final=final)
    await _record_failure(parts, job, error, steps.current, final=final)
    if not final:
        wait = min(parts.settings.backoff_seconds * 2 ** (job.attempts - 1), parts.settings.max_backoff_seconds)
        raise RetryLater(_jittered(wait)) from error


async def _leave_to_others(parts: WorkParts, job: JobRecord, error: FuziError, stage: str) -> None:
    """Wait for a worker with other settings, however long it takes: no fault of the upload, so no attempt counts."""
    log.warning("job_left_to_others", code=error.code, message=error.message)
    async with parts.engine.begin() as connection:
        await note_failure(connection, job.id, error, stage, final=False)
        await hand_back(connection, job.id)
    raise RetryLater(_jittered(parts.settings.lease_seconds)) from error


def _jittered(seconds: float) -> float:
    return seconds * random.uniform(0.5, 1.5)  # noqa: S311 - no secret


async def _record_failure(parts: WorkParts, job: JobRecord, error: FuziError, stage: str, *, final: bool) -> None:
    async with parts.engine.begin() as connection:
        await lock_document(connection, job.document_id, job.object_key)
        await note_failure(connection, job.id, error, stage, final=final)
        if final:
            await fail_document(connection, job.document_id, job.object_key, job.sha256, error)
