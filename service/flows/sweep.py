"""SWEEP FLOW: free what dead workers held → delete noted originals → find orphans → forget old jobs.

Any number of processes may sweep at once: each takes only what no other one has locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import JobSettings, LimitSettings
from service.db.keep_originals import originals_may_go
from service.errors import OriginalsUnavailable
from service.queue.attempts import forget_old_jobs, requeued, stalled_jobs, take_out_ended
from service.queue.queue import JobQueue, lane_of, take_out
from service.store.originals import Originals
from service.store.removals import STALE_AFTER, due_removals, note_removals, removal_failed, removed, unreferenced

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SweepParts:
    """What sweeping takes."""

    engine: AsyncEngine
    originals: Originals
    queue: JobQueue
    settings: JobSettings
    limits: LimitSettings
    stale_after: timedelta = STALE_AFTER


async def free_stalled_jobs(parts: SweepParts) -> int:
    """Put jobs back in line whose worker died or whose place in the queue was lost; return how many.

    What a worker left in line that died after the end of its job is taken out.
    """
    async with parts.engine.begin() as connection:
        jobs = await stalled_jobs(connection, parts.settings.lease_seconds)
        for job in jobs:
            await take_out(connection, job.queue_job_id)
            lane = lane_of(job.size_bytes, parts.limits)
            queue_job_id = await parts.queue.put(connection, job.id, job.document_id, lane, priority=0)
            await requeued(connection, job.id, queue_job_id)
            log.warning("job_freed", job_id=str(job.id), source=job.source, attempts=job.attempts)
        ended_count = await take_out_ended(connection, parts.settings.lease_seconds)
    if ended_count:
        log.warning("ended_jobs_taken_out", count=ended_count)
    return len(jobs)


async def delete_noted_originals(parts: SweepParts) -> int:
    """Delete originals that the outbox names; return how many. What the store refuses stays noted."""
    async with parts.engine.connect() as connection:
        keys = await due_removals(connection)
    return await delete_originals(parts.engine, parts.originals, keys)


async def delete_originals(engine: AsyncEngine, originals: Originals, object_keys: Sequence[str]) -> int:
    """Delete originals that are noted in the outbox, by commit; return how many. Deleting one twice does no harm.

    While a backup copies originals they all stay, noted for the next sweep.
    """
    async with engine.begin() as connection:
        if not object_keys or not await originals_may_go(connection):
            return 0
    deleted, refused = list[str](), list[str]()
    for key in object_keys:
        try:
            await originals.delete(key)
            deleted.append(key)
        except OriginalsUnavailable as error:
            log.warning("original_not_deleted", object_key=key, message=error.message)
            refused.append(key)
    async with engine.begin() as connection:
        await removed(connection, deleted)
        await removal_failed(connection, refused)
    return len(deleted)


async def note_orphans(parts: SweepParts) -> int:
    """Note originals that nothing refers to, left by a crash between storing and committing; return how many."""
    noted = 0
    async for keys in parts.originals.older_than(datetime.now(UTC) - parts.stale_after):
        async with parts.engine.begin() as connection:
            orphans = await unreferenced(connection, keys)
            await note_removals(connection, orphans)
        noted += len(orphans)
    if noted:
        log.warning("orphans_found", count=noted)
    return noted


async def remove_unfinished_uploads(parts: SweepParts) -> int:
    """Remove what a crash in the middle of storing an original left in the object store; return how many."""
    removed_count = await parts.originals.sweep_unfinished(datetime.now(UTC) - parts.stale_after)
    if removed_count:
        log.warning("unfinished_uploads_removed", count=removed_count)
    return removed_count


async def forget_finished_jobs(parts: SweepParts) -> int:
    """Forget jobs that ended well, or were cancelled, ``jobs.keep_days`` ago; dead letters stay."""
    async with parts.engine.begin() as connection:
        return await forget_old_jobs(connection, parts.settings.keep_days)
