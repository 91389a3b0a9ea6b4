"""Headers by which browsers keep what this service answers to itself."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALL_ELSE = "default-src 'none'; frame-ancestors 'none'"
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # nothing, so no query and no document id, to other sites
    "Referrer-Policy": "same-origin",
}


CORS: dict[str, Any] = {
    # No credentials: pages of other sites send a key, never the console's cookie.
    "allow_methods": ["GET", "HEAD", "POST", "PUT", "DELETE"],
    "allow_headers": [
        "Authorization",
        "X-API-Key",
        "Content-Type",
        "X-Request-ID",
        "Range",
        "If-Range",
        "Last-Event-ID",
        "MCP-Protocol-Version",
        "MCP-Session-Id",
    ],
    "expose_headers": ["X-Request-ID", "Location", "Retry-After", "ETag", "Content-Disposition", "Content-Range"],
}
"""What pages of other sites may ask, where their origins are allowed."""


class SecurityHeaders:
    """Adds them to every answer that does not say otherwise itself.

    Pages load scripts, styles and pictures from this service only, and have none inline; nothing is shown inside of
    another site. Answers without an ``ETag`` are kept nowhere: what a key may see is not for the next one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
                is_page = headers.get("content-type", "").startswith("text/html")
                headers.setdefault("Content-Security-Policy", _PAGES if is_page else _ALL_ELSE)
                headers.setdefault("Cache-Control", "private, no-cache" if "etag" in headers else "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
