"""Is the process alive, and can it serve?"""

from __future__ import annotations

import asyncio

import structlog
from fastapi import APIRouter, Response, status
from sqlalchemy.ext.asyncio import AsyncEngine

from service.api.edge.dependencies import OpenServices
from service.api.schemas import HealthAnswer, Problem, ReadyAnswer
from service.config import Settings
from service.db.embedded import ServerKeeper
from service.db.engine import database_errors
from service.db.migrate import check
from service.errors import DatabaseUnavailable, FuziError

router = APIRouter(tags=["health"])
log = structlog.get_logger()


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
    """Check that the database answers, that its schema fits this version, and its vectors this embedding model.

    `degraded` is ready (200): requests are answered, and `reasons` say what the answers lack meanwhile.
    """
    try:
        async with asyncio.timeout(services.settings.database.connect_timeout_seconds):
            await _check_database(services.engine, services.settings)
    except TimeoutError:
        return _not_ready(response, services.keeper, DatabaseUnavailable("PostgreSQL does not answer in time"))
    except FuziError as error:
        return _not_ready(response, services.keeper, error)
    reasons = [Problem(code=notice.code, message=notice.message) for notice in services.bm25.notices()]
    return ReadyAnswer(status="degraded" if reasons else "ready", reasons=reasons)


async def _check_database(engine: AsyncEngine, settings: Settings) -> None:
    with database_errors():
        async with engine.connect() as connection:
            await check(connection, settings.embed)


def _not_ready(response: Response, keeper: ServerKeeper | None, error: FuziError) -> ReadyAnswer:
    log.warning("not_ready", code=error.code, message=error.message)
    response.status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    own = keeper if isinstance(error, DatabaseUnavailable) else None
    message = error.message if own is None else f"{error.message}; {own.advice()}"
    return ReadyAnswer(status="not_ready", reasons=[Problem(code=error.code, message=message)])
