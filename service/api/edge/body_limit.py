"""Bound on request bodies, counted as they arrive: a chunked body without a length is bounded like any other."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MB = 1024 * 1024

type LimitOfPath = Callable[[str], int]
"""Largest body in bytes for a path."""


class BodyTooLarge(HTTPException):
    """A body is over its limit. No FuziError: FastAPI makes a 400 of all others that are raised while it reads."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_mb = limit_bytes // MB
        super().__init__(413, f"the request body is larger than {self.limit_mb} MB")


class BodyLimit:
    """Ends the reading of a body that is over its limit with status 413.

    A declared length over the limit is refused before the first byte is read. Must stand outside of the exception
    handlers: what it raises comes out of the route that reads.
    """

    def __init__(self, app: ASGIApp, limit_of_path: LimitOfPath) -> None:
        self._app = app
        self._limit_of_path = limit_of_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit_of_path(scope["path"])
        declared = Headers(scope=scope).get("content-length", "")
        received = 0

        async def bounded() -> Message:
            nonlocal received
            if declared.isdecimal() and int(declared) > limit:
                raise BodyTooLarge(limit)
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLarge(limit)
            return message

        await self._app(scope, bounded, send)
