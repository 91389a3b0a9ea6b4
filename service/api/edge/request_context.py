"""Request ids, one log line a request, and the last resort for errors nobody foresaw."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.edge.error_handlers import error_response
from service.errors import FuziError, Stopping
from service.tracing import span
from service.tracing.spans import NOTHING, Span
from service.wiring import Services

log = structlog.get_logger()

_ACCEPTABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_QUIET_PATHS = {"/healthz", "/readyz"}
_UNTRACED_PATHS = _QUIET_PATHS | {"/metrics"}
_CLIENT_WENT_AWAY = 499
_SERVER_ERROR = 500


class RequestContext:
    """Gives every request an id, kept from ``X-Request-ID`` when that is short and plain, and a span of its own.

    The id is in ``request.state.request_id``, in every log line of the request and in the answer's ``X-Request-ID``.
    The span is below the caller's when ``traceparent`` names one; its name has the route, which takes few values.
    An error that no handler knows becomes status 500 without its text; the log has the trace under the id. A request
    that the stopping server cancels is told so.
    """

    def __init__(self, app: ASGIApp, new_id: Callable[[], str], clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._new_id = new_id
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _ACCEPTABLE_ID.fullmatch(given) else self._new_id()
        scope["state"] = {**scope.get("state", {}), "request_id": request_id}
        with structlog.contextvars.bound_contextvars(request_id=request_id), _span(scope, request_id) as own:
            await self._answer(scope, receive, send, request_id, own)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request_id: str, own: Span) -> None:
        status: int | None = None
        begun = self._clock()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except ClientDisconnect:
            status = _CLIENT_WENT_AWAY
        except asyncio.CancelledError:
            # the server gives up on what is under way when it has waited long enough
            if status is None and _is_stopping(scope):
                error = Stopping("the service stops, and this took too long; ask again in a moment")
                await error_response(error, request_id)(scope, receive, send_with_id)
            raise
        except Exception:
            log.exception("request_failed")
            if status is not None:
                raise  # the answer has begun: only a cut connection can tell the client
            response = error_response(FuziError("an error nobody foresaw; the log has it"), request_id)
            await response(scope, receive, send_with_id)
        finally:
            _name(own, scope, status)
            self._log(scope, status, begun)

    def _log(self, scope: Scope, status: int | None, begun: float) -> None:
        write = log.debug if scope["path"] in _QUIET_PATHS else log.info
        seconds = self._clock() - begun
        duration_ms = round(seconds * 1000, 3)
        who = {"key": principal.name} if (principal := scope["state"].get("principal")) and principal.key_id else {}
        write("request", method=scope["method"], path=_path(scope), status=status, duration_ms=duration_ms, **who)
        services = _services(scope)
        if services is not None and status is not None and scope["path"] not in _UNTRACED_PATHS:
            services.metrics.answered(scope["method"], _route(scope), status, seconds)


def _path(scope: Scope) -> str:
    """The path, percent-encoded, so that none can forge a log line."""
    return str(scope.get("raw_path", b"").decode("ascii", "replace"))


def _span(scope: Scope, request_id: str) -> AbstractContextManager[Span]:
    if scope["path"] in _UNTRACED_PATHS:
        return nullcontext(NOTHING)
    attributes = {
        "http.request.method": scope["method"],
        "url.path": _path(scope),
        "fuzi.request_id": request_id,
    }
    return span(scope["method"], attributes, kind="server", carrier=Headers(scope=scope))


def _name(own: Span, scope: Scope, status: int | None) -> None:
    """Name the span after its route, which is known now, and note the answer; None is a connection that was cut."""
    route = _route(scope)
    own.rename(f"{scope['method']} {route}")
    own.note({"http.route": route} | ({} if status is None else {"http.response.status_code": status}))
    if status is not None and status >= _SERVER_ERROR:
        own.fail(str(status))


def _route(scope: Scope) -> str:
    """The path of the route with the names of its parameters, so that it takes few values."""
    return str(getattr(scope.get("route"), "path_format", "other"))


def _is_stopping(scope: Scope) -> bool:
    services = _services(scope)
    return services is not None and services.stopping.is_set()


def _services(scope: Scope) -> Services | None:
    """The parts of the running service; None before its start and after its end."""
    app = scope.get("app")
    return None if app is None else getattr(app.state, "services", None)
