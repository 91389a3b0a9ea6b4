"""The worker: jobs of both lanes, the sweeps and the BM25 guard, in this process, as long as a block runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import structlog

from service.db.bm25 import guarding_by
from service.flows.sweep import (
    SweepParts,
    delete_noted_originals,
    forget_finished_jobs,
    free_stalled_jobs,
    note_orphans,
    remove_unfinished_uploads,
)
from service.flows.temporary import remove_left_behind
from service.flows.work import run_job
from service.wiring import Services

log = structlog.get_logger()

_ORPHAN_SWEEP_SECONDS = 600.0
_STOP_SECONDS = 5.0


@asynccontextmanager
async def working(services: Services) -> AsyncIterator[None]:
    """Work on jobs while the block runs.

    At its end running jobs get ``jobs.graceful_seconds`` to finish; then they go back in line, for whoever works next.
    """
    settings, handler = services.settings.jobs, partial(run_job, services.for_work)

    async def remove_temporary(_parts: SweepParts) -> int:
        return await asyncio.to_thread(remove_left_behind, services.settings.server.upload_folder)

    sweeps: dict[Callable[..., Awaitable[int]], float] = {
        free_stalled_jobs: settings.sweep_seconds,
        delete_noted_originals: settings.sweep_seconds,
        note_orphans: _ORPHAN_SWEEP_SECONDS,
        remove_unfinished_uploads: _ORPHAN_SWEEP_SECONDS,
        remove_temporary: _ORPHAN_SWEEP_SECONDS,
        forget_finished_jobs: _ORPHAN_SWEEP_SECONDS,
    }
    lanes = {"small": settings.concurrency, "large": settings.large_concurrency}
    tasks = [
        asyncio.create_task(services.queue.work(handler, lane, count, settings.graceful_seconds), name=f"{lane} jobs")
        for lane, count in lanes.items()
    ] + [
        asyncio.create_task(_repeat(partial(sweep, services.for_sweep), seconds), name=sweep.__name__)
        for sweep, seconds in sweeps.items()
    ]
    try:
        async with guarding_by(services.settings.database, services.engine, services.bm25):
            yield
    finally:
        for task in tasks:
            task.cancel()
        # A worker that cannot reach the database any more must not keep the process from stopping.
        _, stuck = await asyncio.wait(tasks, timeout=settings.graceful_seconds + _STOP_SECONDS)
        if stuck:
            log.warning("worker_did_not_stop", tasks=sorted(task.get_name() for task in stuck))


async def _repeat(sweep: Callable[[], Awaitable[int]], seconds: float) -> None:
    """Sweep now and every so many seconds; one that fails is tried again at its next time."""
    while True:
        try:
            await sweep()
        except Exception as error:
            log.warning("sweep_failed", sweep=getattr(sweep, "func", sweep).__name__, error=repr(error))
        await asyncio.sleep(seconds)
