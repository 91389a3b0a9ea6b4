"""Request ids, one log line a request, and the last resort for errors nobody foresaw."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.edge.error_handlers import error_response
from service.errors import FuziError

log = structlog.get_logger()

_ACCEPTABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_QUIET_PATHS = {"/healthz", "/readyz"}
_CLIENT_WENT_AWAY = 499


class RequestContext:
    """Gives every request an id, kept from ``X-Request-ID`` when that is short and plain.

    The id is in ``request.state.request_id``, in every log line of the request and in the answer's ``X-Request-ID``.
    An error that no handler knows becomes status 500 without its text; the log has the trace under the id.
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
        status: int | None = None
        begun = self._clock()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_id)
            except ClientDisconnect:
                status = _CLIENT_WENT_AWAY
            except Exception:
                log.exception("request_failed")
                if status is not None:
                    raise  # the answer has begun: only a cut connection can tell the client
                response = error_response(FuziError("an error nobody foresaw; the log has it"), request_id)
                await response(scope, receive, send_with_id)
            finally:
                self._log(scope, status, begun)

    def _log(self, scope: Scope, status: int | None, begun: float) -> None:
        write = log.debug if scope["path"] in _QUIET_PATHS else log.info
        # raw_path is percent-encoded, so that no path can forge a log line
        path = scope.get("raw_path", b"").decode("ascii", "replace")
        duration_ms = round((self._clock() - begun) * 1000, 3)
        write("request", method=scope["method"], path=path, status=status, duration_ms=duration_ms)
