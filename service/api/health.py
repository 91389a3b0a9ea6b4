"""Is the process alive, can it serve, and how does it do?"""

from __future__ import annotations

import asyncio
from uuid import uuid4

import structlog
from fastapi import APIRouter, FastAPI, Response, status
from sqlalchemy.ext.asyncio import AsyncEngine

from service.api.access import READ, Authentication, Caller, Gate, require_all
from service.api.edge.dependencies import OpenServices
from service.api.edge.error_handlers import add_error_handlers
from service.api.edge.request_context import RequestContext
from service.api.schemas import HealthAnswer, Problem, ReadyAnswer, ReplicaAnswer
from service.db.engine import database_errors
from service.db.migrate import check_revision
from service.errors import DatabaseUnavailable, FuziError
from service.metrics import JobCount, Metrics
from service.queue.queue import count_jobs
from service.wiring import Services

router = APIRouter(tags=["health"])
log = structlog.get_logger()

_SCRAPE_SECONDS = 5.0


@router.get("/healthz", summary="Is the process alive?")
async def health() -> HealthAnswer:
    """Answer without touching the database or any other part."""
    return HealthAnswer(status="alive")


@router.get(
    "/readyz",
    summary="Can searches and uploads be served?",
    responses={status.HTTP_503_SERVICE_UNAVAILABLE: {"model": ReadyAnswer, "description": "Not ready"}},
)
async def readiness(services: OpenServices, response: Response) -> ReadyAnswer:
    """Check that the database answers, and that its schema fits this version. Its embedding model is followed.

    `degraded` is ready (200): requests are answered, and `reasons` say what the answers lack meanwhile.
    """
    try:
        async with asyncio.timeout(services.settings.database.connect_timeout_seconds):
            await _check_database(services.engine)
    except TimeoutError:
        return _not_ready(response, services, DatabaseUnavailable("PostgreSQL does not answer in time"))
    except FuziError as error:
        return _not_ready(response, services, error)
    notices = [*services.bm25.notices(), *services.embedder.notices(), *services.reranker.notices()]
    reasons = [Problem(code=notice.code, message=notice.message) for notice in notices]
    return ReadyAnswer(status="degraded" if reasons else "ready", reasons=reasons, replica=_replica(services))


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    dependencies=[READ],
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "Text format of Prometheus"}},
)
async def scrape(services: OpenServices, caller: Caller) -> Response:
    """Answer with the numbers of this process, and with the jobs of the database as they are now.

    When the database does not answer, `fuzi_database_up` is 0 and the jobs are left out.
    """
    require_all(caller)
    services.metrics.database_seen(await _jobs(services))
    return Response(services.metrics.text(), media_type=Metrics.content_type)


async def _check_database(engine: AsyncEngine) -> None:
    with database_errors():
        async with engine.connect() as connection:
            await check_revision(connection)


def _replica(services: Services) -> ReplicaAnswer | None:
    """The replica as the watcher last saw it, a second ago or so."""
    if services.reads is None:
        return None
    state = services.reads.state
    return ReplicaAnswer(
        used=state.is_used,
        reason=state.reason,
        message=state.message,
        lag_bytes=state.lag_bytes,
        lag_seconds=None if state.lag_seconds is None else round(state.lag_seconds, 3),
    )


def _not_ready(response: Response, services: Services, error: FuziError) -> ReadyAnswer:
    log.warning("not_ready", code=error.code, message=error.message)
    response.status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    own = services.keeper if isinstance(error, DatabaseUnavailable) else None
    message = error.message if own is None else f"{error.message}; {own.advice()}"
    reasons = [Problem(code=error.code, message=message)]
    return ReadyAnswer(status="not_ready", reasons=reasons, replica=_replica(services))


async def _jobs(services: Services) -> list[JobCount] | None:
    try:
        async with asyncio.timeout(_SCRAPE_SECONDS):
            with database_errors():
                async with services.engine.connect() as connection:
                    return await count_jobs(connection, services.settings.limits)
    except (FuziError, TimeoutError):
        return None


def create_metrics_app(services: Services, gate: Gate) -> FastAPI:
    """An application that answers `GET /metrics` and nothing else, for a worker, which has no REST service."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.services, app.state.gate = services, gate
    app.get("/metrics", response_class=Response, dependencies=[READ])(scrape)
    add_error_handlers(app)
    app.add_middleware(Authentication, server=services.settings.server)
    app.add_middleware(RequestContext, new_id=lambda: uuid4().hex)
    return app
