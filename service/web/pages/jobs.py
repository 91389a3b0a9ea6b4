"""Jobs: all of them, and what can be done about them."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from service.api import jobs as rest
from service.api.access import READ, WRITE, Caller
from service.api.edge.dependencies import OpenServices
from service.api.job_schemas import JobQuery
from service.queue.jobs import JobStatus
from service.web.view.rendering import ThisPage
from service.web.view.validated import validated

router = APIRouter(prefix="/jobs")

_PAGE = 25


@router.get("", dependencies=[READ])
async def list_all(request: Request, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Jobs, newest first."""
    status = request.query_params.get("status", "")
    given = {"status": status} if status else {}
    query = validated(JobQuery, {"limit": _PAGE, "offset": request.query_params.get("offset", "0"), **given})
    listed = await rest.jobs_page(services.engine, query, caller)
    return page.render("jobs.html", listed=listed, status=status, statuses=list(JobStatus))


@router.post("/{job_id}/retry", dependencies=[WRITE])
async def retry(job_id: UUID, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Put a failed job back in line."""
    job = await rest.retry_one(job_id, services, caller)
    return page.render("job.html", job=job) if page.is_fragment else RedirectResponse("/jobs", 303)


@router.post("/{job_id}/cancel", dependencies=[WRITE])
async def cancel(job_id: UUID, page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Cancel a job."""
    job = await rest.cancel_one(job_id, services, caller)
    return page.render("job.html", job=job) if page.is_fragment else RedirectResponse("/jobs", 303)
