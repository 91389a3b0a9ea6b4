"""Who makes a request: asked before anything is done for it, whatever route or mounted application it is for."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.access.credentials import check_host, check_origin, credential_of
from service.api.access.gate import Gate, gate_of
from service.api.edge.error_handlers import error_response
from service.config import ServerSettings
from service.errors import FuziError, KeyMissing, Unauthenticated
from service.types import ANYONE, NOBODY, Principal

LOGIN_PATH = "/login"

_PUBLIC = {"/healthz", "/readyz", "/favicon.ico"}
_PUBLIC_FOLDER = "/static/"
_BEFORE_LOGIN = {LOGIN_PATH, "/logout", "/preferences"}
_FOR_PROGRAMS = ("/v1/", "/mcp", "/openapi.json", "/metrics")
_CUT_OFF = 499


class Authentication:
    """Puts a `Principal` into ``scope["state"]["principal"]`` of every request, or answers with 401.

    What is public is listed here, and everything else needs a valid key where keys are needed: a route or a mounted
    application that was forgotten is closed. A page of the console leads to its login instead. Requests that change
    something (their route needs write or admin) are noted in the audit log when they end.

    Args:
        server: says which origins may ask, and whether only this machine reaches the service (`check_host`).
    """

    def __init__(self, app: ASGIApp, server: ServerSettings) -> None:
        self._app = app
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:  # nothing here speaks WebSocket
            await send({"type": "websocket.close", "code": 1008})

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate = gate_of(scope)
        scope["state"] = {**scope.get("state", {}), "principal": NOBODY}
        try:
            principal = await self._admitted(scope, gate)
        except FuziError as error:
            await _refusal(scope, error)(scope, receive, send)
            return
        scope["state"]["principal"] = principal
        await self._noted(scope, receive, send, gate, principal)

    async def _admitted(self, scope: Scope, gate: Gate) -> Principal:
        path = scope["path"]
        if path in _PUBLIC or path.startswith(_PUBLIC_FOLDER):
            return NOBODY
        credential = credential_of(scope)
        check_origin(scope, credential, self._server.origins)
        try:
            principal = await gate.keyring.authenticate(credential.key)
        except FuziError:
            if path in _BEFORE_LOGIN:
                return NOBODY
            raise
        if principal is ANYONE and self._server.is_loopback:
            check_host(scope, self._server.origins)
        gate.rate.take(principal.key_id)
        return principal

    async def _noted(self, scope: Scope, receive: Receive, send: Send, gate: Gate, principal: Principal) -> None:
        status, target = _CUT_OFF, scope.get("raw_path", b"").decode("ascii", "replace")

        async def watched(message: Message) -> None:
            nonlocal status, target
            if message["type"] == "http.response.start":
                status = message["status"]
                if status < 300:
                    target = Headers(raw=message["headers"]).get("location", target)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            status = 500 if status == _CUT_OFF else status
            raise
        finally:
            if scope["state"].get("changes"):
                route = getattr(scope.get("route"), "path_format", scope["path"])
                action, request_id = f"{scope['method']} {route}", scope["state"].get("request_id")
                await gate.audit.note(principal, action, target, request_id=request_id, status=status)


def principal_of(scope: Scope) -> Principal:
    """Who makes the request of an ASGI scope; nobody when that was never asked."""
    known = scope.get("state", {}).get("principal")
    return known if isinstance(known, Principal) else NOBODY


def _refusal(scope: Scope, error: FuziError) -> Response:
    headers = Headers(scope=scope)
    if isinstance(error, Unauthenticated):
        if headers.get("hx-request") == "true":
            return Response(status_code=401, headers={"HX-Redirect": LOGIN_PATH})
        wants_page = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
        if wants_page and not scope["path"].startswith(_FOR_PROGRAMS):
            query = scope["query_string"].decode("ascii", "replace")
            here = scope["path"] + (f"?{query}" if query else "")
            return RedirectResponse(f"{LOGIN_PATH}?{urlencode({'next': here})}", 303)
    answer = error_response(error, scope["state"].get("request_id", ""))
    if isinstance(error, Unauthenticated):
        problem = "" if isinstance(error, KeyMissing) else ', error="invalid_token"'
        answer.headers["WWW-Authenticate"] = f'Bearer realm="fuzi"{problem}'
    return answer
