"""Errors of pages are pages: what went wrong, in the visitor's language, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
import sqlalchemy.exc
import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from service.api.edge.body_limit import BodyTooLarge
from service.api.edge.error_handlers import invalid_request, json_safe
from service.db.engine import database_errors
from service.errors import FuziError, TooLarge
from service.web.view.rendering import page_of

log = structlog.get_logger()

_EXPECTED = (
    FuziError,
    RequestValidationError,
    BodyTooLarge,
    sqlalchemy.exc.SQLAlchemyError,
    psycopg.Error,
)

type _Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose errors are shown to a person."""

    def get_route_handler(self) -> _Handler:
        """Wrap the route's own handler."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except _EXPECTED as error:
                return error_page(request, known_error(error, request))

        return handled


def known_error(error: Exception, request: Request) -> FuziError:
    """The error of our own tree that stands for one which can be expected."""
    match error:
        case FuziError():
            return error
        case RequestValidationError():
            return invalid_request(error.errors(), request.headers.get("content-type", ""))
        case BodyTooLarge():
            return TooLarge(error.detail, limit_mb=error.limit_mb)
    try:
        with database_errors():
            raise error
    except FuziError as mapped:
        log.warning("database_failed", code=mapped.code, message=mapped.message, cause=str(error))
        return mapped


def error_page(request: Request, error: FuziError) -> Response:
    """Show an error: as a page, or to htmx as the part that tells it."""
    page = page_of(request)
    template = "problem.html" if page.is_fragment else "error.html"
    request_id = getattr(request.state, "request_id", "")
    return page.render(
        template, error.http_status, code=error.code, message=json_safe(error.message), request_id=request_id
    )
