"""Errors are pages where a browser asks: what went wrong, in the visitor's language, and what to do next."""

from __future__ import annotations

import json
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import FuziError
from service.web.view.rendering import page_of

log = structlog.get_logger()

_FOR_PROGRAMS = ("/v1", "/mcp", "/openapi.json", "/metrics", "/healthz", "/readyz")
_KEPT = ("allow", "retry-after", "www-authenticate")
"""Headers of an error that a page says as well."""


class ErrorPages:
    """Shows the JSON of an error as a page to browsers, and to htmx as the part that tells it.

    One place for all of them: what a page refuses, what the router does not know, what nobody foresaw. Programs, which
    ask for no HTML, and everything below ``/v1`` keep the JSON.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http" or not _wants_page(scope):
            await self._app(scope, receive, send)
            return
        begun = False
        refusal: Message | None = None  # held back until its body, which has the code, is there
        body = bytearray()

        async def shown(message: Message) -> None:
            nonlocal begun, refusal
            if message["type"] == "http.response.start" and _is_error(message):
                refusal = message
            elif refusal is None or message["type"] != "http.response.body":
                begun = True
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    begun = True
                    await _page(scope, refusal, bytes(body))(scope, receive, send)

        try:
            await self._app(scope, receive, shown)
        except ClientDisconnect:
            raise
        except Exception:
            if begun:
                raise  # only a cut connection can tell the visitor
            log.exception("request_failed")
            unforeseen = FuziError("an error nobody foresaw; the log has it")
            await _rendered(scope, unforeseen.http_status, unforeseen.code, unforeseen.message)(scope, receive, send)


def _wants_page(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    is_browser = "text/html" in headers.get("accept", "") or headers.get("hx-request") == "true"
    return is_browser and not scope["path"].startswith(_FOR_PROGRAMS)


def _is_error(start: Message) -> bool:
    is_json = Headers(raw=start["headers"]).get("content-type", "").startswith("application/json")
    return start["status"] >= 400 and is_json


def _page(scope: Scope, start: Message, body: bytes) -> Response:
    error: dict[str, Any] = json.loads(body)["error"]
    page = _rendered(scope, start["status"], error["code"], error["message"])
    told = MutableHeaders(raw=start["headers"])
    page.headers.update({name: told[name] for name in _KEPT if name in told})
    return page


def _rendered(scope: Scope, status: int, code: str, message: str) -> Response:
    page = page_of(Request(scope))
    return page.render("problem.html" if page.is_fragment else "error.html", status, code=code, message=message)
