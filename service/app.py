"""The REST service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any
from uuid import uuid4

from fastapi import Depends, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from service.agent import AGENT_PATH, AgentEndpoint, serve_agents
from service.api import collections, contents, documents, feedback, health, jobs, split_preview
from service.api.access import CORS, Authentication, SecurityHeaders, open_gate
from service.api.access.key_routes import router as keys
from service.api.answer.held import Answers
from service.api.answer.routes import answer_router
from service.api.edge.admission import Admission, Turnstile
from service.api.edge.body_limit import MB, BodyLimit, LimitOfPath
from service.api.edge.error_handlers import add_error_handlers
from service.api.edge.query_parameters import only_known
from service.api.edge.request_context import RequestContext
from service.api.schemas import ErrorAnswer
from service.api.search import passages
from service.api.search.routes import SEARCH_PATHS, search_router
from service.config import LimitSettings, Settings
from service.db.bm25 import guarding_by
from service.web import UPLOAD_PATH, add_console
from service.wiring import Services, reading_replica
from service.wiring import open_services as open_real_services
from service.worker import working

type OpenServices = Callable[[Settings], AbstractAsyncContextManager[Services]]

_MULTIPART_OVERHEAD = 128 * 1024
"""Bytes for boundaries, part headers and the short text fields of an upload."""

_ERRORS: dict[int | str, dict[str, Any]] = {
    "default": {"model": ErrorAnswer, "description": "Any error: `code` is stable, `message` is for people"}
}


def create_app(settings: Settings, open_services: OpenServices = open_real_services) -> FastAPI:
    """Make the application; its parts are opened when it starts and closed when it stops.

    Args:
        open_services: opens the parts for these settings.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            services = await stack.enter_async_context(open_services(settings))
            app.state.services = services
            app.state.gate = await stack.enter_async_context(open_gate(services))
            await stack.enter_async_context(reading_replica(services))
            app.state.admission = Admission(settings.limits, services.metrics)
            answers = Answers(settings.chat)
            app.state.answers = await stack.enter_async_context(answers.until(services.stopping))
            app.state.agents = await stack.enter_async_context(serve_agents(services, app.state.admission.place))
            if settings.jobs.inside_serve:
                await stack.enter_async_context(working(services))
            else:
                guard = guarding_by(settings.database, services.engine, services.bm25)
                await stack.enter_async_context(guard)
            yield

    app = FastAPI(
        title="Fuzi",
        summary="Hybrid retrieval for Chinese and mixed documents: search fine, read whole",
        version=version("fuzi"),
        lifespan=lifespan,
        responses=_ERRORS,
        # The stock pages load their scripts from a CDN; this service runs where there is no internet.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for module in (documents, contents, collections, jobs, split_preview, passages, feedback):
        app.include_router(module.router, dependencies=[Depends(only_known)])
    app.include_router(search_router(settings.search), dependencies=[Depends(only_known)])
    app.include_router(answer_router(settings.search), dependencies=[Depends(only_known)])
    app.router.routes.append(Route(AGENT_PATH, AgentEndpoint(), include_in_schema=False))
    app.include_router(keys, dependencies=[Depends(only_known)])
    app.include_router(health.router)
    add_console(app, settings)
    add_error_handlers(app)
    # The one added last is the outermost.
    app.add_middleware(Authentication, server=settings.server)
    app.add_middleware(BodyLimit, limit_of_path=_body_limits(settings.limits))
    if settings.server.origins:
        app.add_middleware(CORSMiddleware, allow_origins=settings.server.origins, **CORS)
    app.add_middleware(Turnstile, paths=SEARCH_PATHS)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestContext, new_id=lambda: uuid4().hex)
    return app


def _body_limits(limits: LimitSettings) -> LimitOfPath:
    upload = limits.max_upload_mb * MB + limits.max_metadata_bytes + _MULTIPART_OVERHEAD
    other = limits.max_request_mb * MB
    with_file = {documents.router.prefix, split_preview.PATH, UPLOAD_PATH}
    return lambda path: upload if path in with_file else other
