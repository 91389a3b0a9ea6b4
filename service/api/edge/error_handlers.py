"""Every error in the one JSON shape: ``{"error": {"code", "message", "retryable", "request_id", "details"}}``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
import sqlalchemy.exc
import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request

from service.api.edge.body_limit import BodyTooLarge
from service.db.engine import database_errors
from service.errors import FuziError, InvalidRequest, MethodNotAllowed, NotFound, TooLarge

log = structlog.get_logger()

_RETRY_AFTER_SECONDS = 5
_MOST_PROBLEMS = 50


def add_error_handlers(app: FastAPI) -> None:
    """Answer our own errors, invalid requests, the router's errors and the database's failures."""
    app.add_exception_handler(FuziError, _own)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_router)
    app.add_exception_handler(sqlalchemy.exc.SQLAlchemyError, _of_database)
    app.add_exception_handler(psycopg.Error, _of_database)


def error_response(error: FuziError, request_id: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the answer that tells an error. An error that was not mapped keeps its text out of it."""
    content = {"error": error_content(error, request_id)}
    answer = JSONResponse(content, error.http_status, dict(headers or {}))
    if error.retryable and error.http_status in {429, 503}:
        answer.headers["Retry-After"] = str(error.details.get("retry_after_seconds", _RETRY_AFTER_SECONDS))
    return answer


def error_content(error: FuziError, request_id: str) -> dict[str, Any]:
    """Return the inner part of the one JSON shape of errors."""
    content = {
        "code": error.code,
        "message": error.message,
        "retryable": error.retryable,
        "request_id": request_id,
        "details": dict(error.details),
    }
    return {name: json_safe(value) for name, value in content.items()}


def json_safe(value: Any) -> Any:
    """Return a copy that any JSON reader takes: no lone surrogates, no NaN, nothing but JSON's types."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case bool() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping():
            return {json_safe(str(key)): json_safe(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [json_safe(item) for item in value]
        case _:
            return json_safe(str(value))


async def _own(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, FuziError)  # noqa: S101 - registered for these only
    return _answer(request, error)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these only
    return _answer(request, invalid_request(error.errors(), request.headers.get("content-type", "")))


def invalid_request(problems: Sequence[Mapping[str, Any]], content_type: str) -> InvalidRequest:
    """Say in one line what is wrong with a request; ``details.problems`` has each place and its message.

    What the caller sent is never repeated: it may be large, secret, or no valid JSON.
    """
    if problems and problems[0]["type"] == "json_invalid":
        return InvalidRequest(f"the body is not valid JSON, seen at character {problems[0]['loc'][-1]}")
    if any(problem["loc"] == ("body",) for problem in problems) and "json" not in content_type:
        return InvalidRequest("send a JSON object with the header Content-Type: application/json")
    places = [{"place": _place(problem), "message": _text(problem)} for problem in problems[:_MOST_PROBLEMS]]
    summary = "; ".join(f"{place['place']}: {place['message']}" for place in places[:3])
    more = len(problems) - 3
    return InvalidRequest(summary + (f"; and {more} more" if more > 0 else ""), problems=places)


def _place(problem: Mapping[str, Any]) -> str:
    first, *rest = problem["loc"]  # "body", "query" or "path", then the names and positions within
    return ".".join(map(str, rest or [first]))[:200]


def _text(problem: Mapping[str, Any]) -> str:
    return str(problem["msg"]).removeprefix("Value error, ")[:500]


async def _of_router(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these only
    known: FuziError
    match error.status_code:
        case 404:
            known = NotFound(f"there is no {request.url.path[:200]}")
        case 405:
            known = MethodNotAllowed(f"{request.method} is not allowed here")
        case 413 if isinstance(error, BodyTooLarge):
            known = TooLarge(error.detail, limit_mb=error.limit_mb)
        case 400:
            known = InvalidRequest(f"{error.detail}: is it valid JSON?")
        case _:
            raise error
    return _answer(request, known, error.headers)


async def _of_database(request: Request, error: Exception) -> JSONResponse:
    try:
        with database_errors():
            raise error
    except FuziError as mapped:
        log.warning("database_failed", code=mapped.code, message=mapped.message, cause=str(error))
        return _answer(request, mapped)


def _answer(request: Request, error: FuziError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    if error.http_status >= 500:
        log.warning("request_refused", code=error.code, message=error.message, details=dict(error.details))
    return error_response(error, request.state.request_id, headers)
