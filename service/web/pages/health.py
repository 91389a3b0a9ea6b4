"""Health: can searches and uploads be served, are the indexes whole, does the queue move?"""

from __future__ import annotations

from fastapi import APIRouter, Response
from sqlalchemy import text

from service.api import health as rest
from service.api.access import READ, Caller, require_all
from service.api.edge.dependencies import OpenServices
from service.queue.queue import count_jobs
from service.web.view.rendering import ThisPage

router = APIRouter(prefix="/health", dependencies=[READ])

_INDEXES = text("""
    select index_name, method, is_whole, table_rows, missing_rows, size_bytes, segment_count
    from rag.index_health
    order by index_name
""")


@router.get("")
async def show(page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Readiness with its reasons; indexes and jobs follow when the database answers."""
    require_all(caller)
    return page.render("health.html", ready=await rest.readiness(services, Response()))


@router.get("/facts")
async def show_facts(page: ThisPage, caller: Caller, services: OpenServices) -> Response:
    """Indexes, jobs and model as the database has them; it counts all chunks, so it is asked now and then only."""
    require_all(caller)
    async with services.engine.connect() as connection:
        indexes = (await connection.execute(_INDEXES)).all()
        jobs = [job for job in await count_jobs(connection, services.settings.limits) if job.count]
    model = services.embedder.current.model
    return page.render("health_facts.html", indexes=indexes, jobs=jobs, model=model)
