"""Jobs: list, look at, follow, cancel, retry."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from sqlalchemy.ext.asyncio import AsyncEngine

from service.api.access import READ, WRITE, Caller
from service.api.edge.dependencies import OpenServices
from service.api.job_schemas import JobAnswer, JobList, JobQuery
from service.errors import FuziError, JobNotFound, Stopping
from service.flows.jobs import cancel, retry
from service.in_flight import happens_within
from service.queue.jobs import JobRecord, get_job, list_jobs
from service.types import ANYONE, Principal
from service.wiring import Services

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_LOOK_SECONDS = 0.5
_LOOKS_PER_HEARTBEAT = 20


@router.get("", summary="List jobs", dependencies=[READ])
async def list_all(query: Annotated[JobQuery, Query()], services: OpenServices, caller: Caller) -> JobList:
    """Return one page of jobs, newest first."""
    return await jobs_page(services.engine, query, caller)


async def jobs_page(engine: AsyncEngine, query: JobQuery, caller: Principal) -> JobList:
    """Return one page of jobs, newest first, in JSON form."""
    async with engine.connect() as connection:
        records, total = await list_jobs(
            connection,
            document_id=query.document_id,
            collections=caller.visible(None if query.collection is None else (query.collection,)),
            status=query.status,
            unfinished=query.unfinished,
            limit=query.limit,
            offset=query.offset,
        )
    jobs = [JobAnswer.model_validate(record) for record in records]
    return JobList(jobs=jobs, total=total, limit=query.limit, offset=query.offset)


@router.get("/{job_id}", summary="Look at a job", dependencies=[READ])
async def look_at(job_id: UUID, services: OpenServices, caller: Caller) -> JobAnswer:
    """Return how far a job has come."""
    return JobAnswer.model_validate(await _read(services.engine, job_id, caller))


@router.get(
    "/{job_id}/events",
    summary="Follow a job",
    dependencies=[READ],
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {}},
            "description": "`progress` events, then one `complete`; or `error`: the job is gone, the service stops",
        }
    },
)
async def follow(job_id: UUID, services: OpenServices, caller: Caller) -> StreamingResponse:
    """Stream a `progress` event with the job at each change, and `complete` when it has ended."""
    first = await _read(services.engine, job_id, caller)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_events(services, first), media_type="text/event-stream", headers=headers)


@router.post("/{job_id}/cancel", summary="Cancel a job", dependencies=[WRITE])
async def cancel_one(job_id: UUID, services: OpenServices, caller: Caller) -> JobAnswer:
    """Cancel a job that waits at once, and one that is at work within seconds; the served version stays."""
    await _read(services.engine, job_id, caller)
    return JobAnswer.model_validate(await cancel(services.engine, job_id))


@router.post("/{job_id}/retry", summary="Retry a failed job", dependencies=[WRITE])
async def retry_one(job_id: UUID, services: OpenServices, caller: Caller) -> JobAnswer:
    """Put a failed job back in line; it goes on after the last step that was done."""
    await _read(services.engine, job_id, caller)
    job = await retry(services.engine, services.queue, services.settings.limits, job_id)
    return JobAnswer.model_validate(job)


async def _read(engine: AsyncEngine, job_id: UUID, caller: Principal = ANYONE) -> JobRecord:
    async with engine.connect() as connection:
        return await get_job(connection, job_id, caller)


async def _events(services: Services, job: JobRecord) -> AsyncIterator[str]:
    """Server-sent events; a comment now and then keeps proxies from cutting a quiet stream."""
    shown: str | None = None
    looks = 0
    while True:
        answer = JobAnswer.model_validate(job).model_dump_json()
        if job.is_finished:
            yield f"event: complete\ndata: {answer}\n\n"
            return
        if answer != shown:
            yield f"event: progress\ndata: {answer}\n\n"
            shown = answer
        elif looks % _LOOKS_PER_HEARTBEAT == 0:
            yield ": alive\n\n"
        looks += 1
        if await happens_within(services.stopping, _LOOK_SECONDS):
            yield _error(Stopping("the service stops; follow the job again in a moment"))
            return
        try:
            job = await _read(services.engine, job.id)
        except JobNotFound as error:
            yield _error(error)
            return


def _error(error: FuziError) -> str:
    told = {"code": error.code, "message": error.message, "retryable": error.retryable}
    return f"event: error\ndata: {json.dumps(told, ensure_ascii=False)}\n\n"
