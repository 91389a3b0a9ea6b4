"""The queue in PostgreSQL (procrastinate): who works next, on whatever host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import procrastinate
import structlog
from procrastinate import JobContext, PsycopgConnector, RetryDecision
from procrastinate.jobs import Job as QueueJob
from sqlalchemy import case, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.config import LimitSettings
from service.db.engine import libpq_url
from service.db.job_models import Job
from service.metrics import JobCount
from service.queue.jobs import JobStatus

log = structlog.get_logger()

LANES = ("small", "large")
"""Large files wait in a lane of their own, so that they never take every place of a worker."""

_ENDED_WELL = (JobStatus.READY, JobStatus.READY_WITH_WARNINGS, JobStatus.CANCELLED)
_COUNTED = [status for status in JobStatus if status not in _ENDED_WELL]
_TASK = "ingest"
_POLL_SECONDS = 2.0
_RESTART_SECONDS = 1.0

type Handler = Callable[[UUID], Awaitable[None]]


class RetryLater(Exception):
    """Raised by a handler: the job is to be tried again after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:.0f} s")
        self.seconds = seconds


class _Strategy(procrastinate.BaseRetryStrategy):
    """The handler decides: `RetryLater`, or a shutdown that handed the job back."""

    def get_retry_decision(self, *, exception: BaseException, job: QueueJob) -> RetryDecision | None:
        if isinstance(exception, RetryLater):
            return RetryDecision(retry_in={"seconds": max(1, round(exception.seconds))})
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        return None


class JobQueue:
    """Puts jobs in line, in the caller's transaction, and runs workers."""

    def __init__(self, app: procrastinate.App, task: procrastinate.tasks.Task[Any, Any, Any]) -> None:
        self._app = app
        self._task = task

    async def put(self, connection: AsyncConnection, job_id: UUID, document_id: UUID, lane: str, priority: int) -> int:
        """Put a job in line as part of the caller's transaction and return its number in the queue.

        Jobs of one document run one after the other. A higher ``priority`` goes first.
        """
        raw = await connection.get_raw_connection()
        deferrer = self._task.configure(
            queue=lane, priority=priority, lock=str(document_id), connection=raw.driver_connection
        )
        return await deferrer.defer_async(job_id=str(job_id))

    async def work(self, handler: Handler, lane: str, concurrency: int, graceful_seconds: float) -> None:
        """Run jobs of one lane until cancelled; a lost database is waited for.

        On cancellation running jobs get ``graceful_seconds``; then they are cancelled and go back in line.
        """
        while True:
            try:
                await self._app.run_worker_async(
                    queues=[lane],
                    name=f"fuzi-{lane}",
                    concurrency=concurrency,
                    install_signal_handlers=False,
                    fetch_job_polling_interval=_POLL_SECONDS,
                    shutdown_graceful_timeout=graceful_seconds,
                    delete_jobs="always",
                    additional_context={"handler": handler},
                )
            except Exception as error:
                log.warning("worker_restarts", lane=lane, error=str(error))
            await asyncio.sleep(_RESTART_SECONDS)


def lane_of(size_bytes: int, limits: LimitSettings) -> str:
    """Return the lane of a file of this size."""
    return LANES[size_bytes > _largest_small(limits)]


def _largest_small(limits: LimitSettings) -> int:
    return limits.large_file_mb * 1024 * 1024


async def count_jobs(connection: AsyncConnection, limits: LimitSettings) -> list[JobCount]:
    """Return how many jobs are unfinished, or dead letters, by state and lane; those that ended well are not counted.

    Every state and lane is there, also with no job: an alert may then trust that a number which is missing is unknown.
    Both kinds have an index of their own, so this costs what is there and not what ever was.
    """
    lane = case((Job.size_bytes > _largest_small(limits), LANES[1]), else_=LANES[0]).label("lane")
    oldest = func.extract("epoch", func.now() - func.min(Job.created_at))
    query = (
        select(Job.status, lane, func.count(), oldest)
        .where(or_(Job.finished_at.is_(None), Job.status == JobStatus.FAILED))
        .group_by(Job.status, lane)
    )
    found = {(status, name): (count, float(age)) for status, name, count, age in await connection.execute(query)}
    return [JobCount(status, name, *found.get((status, name), (0, 0.0))) for status in _COUNTED for name in LANES]


async def take_out(connection: AsyncConnection, queue_job_id: int | None) -> None:
    """Take an entry out of the line, whoever has it."""
    await connection.execute(text("delete from queue.procrastinate_jobs where id = :id"), {"id": queue_job_id})


@asynccontextmanager
async def open_queue(dsn: str) -> AsyncIterator[JobQueue]:
    """Open the queue of the database ``dsn`` with connections of its own."""
    connector = PsycopgConnector(
        conninfo=libpq_url(dsn),
        min_size=1,
        max_size=4,
        kwargs={"options": "-c search_path=queue,pg_catalog", "application_name": "fuzi queue"},
    )
    app = procrastinate.App(connector=connector)

    @app.task(name=_TASK, retry=_Strategy(), pass_context=True)
    async def run(context: JobContext, job_id: str) -> None:
        handler: Handler = context.additional_context["handler"]
        await handler(UUID(job_id))

    async with app.open_async():
        yield JobQueue(app, run)
