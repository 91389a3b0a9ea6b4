"""The server over HTTP, as part of the REST service: every request stands for itself, and sees what its key may see."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from service.agent.library import Library, OwnLibrary
from service.agent.server import create_server
from service.api.access import principal_of
from service.api.edge.error_handlers import error_response
from service.config import ServerSettings
from service.errors import ScopeMissing
from service.types import NOBODY, AccessScope
from service.wiring import Services

AGENT_PATH = "/mcp"

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class AgentEndpoint:
    """ASGI application of one path; what it serves lives as long as the application runs."""

    state_name: str = "agents"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        principal = principal_of(scope)
        if not principal.may(AccessScope.READ):
            error = ScopeMissing(f"this needs an API key of scope {AccessScope.READ}", scope=str(AccessScope.READ))
            await error_response(error, scope["state"].get("request_id", ""))(scope, receive, send)
            return
        server: MCPServer = getattr(scope["app"].state, self.state_name)
        await server.session_manager.handle_request(scope, receive, send)


@asynccontextmanager
async def serve_agents(
    services: Services, place: Callable[[], AbstractAsyncContextManager[None]]
) -> AsyncIterator[MCPServer]:
    """Run the server for `AgentEndpoint` while the block runs.

    Args:
        place: holds one of the places for searches while one runs.
    """

    def library_of(context: Context[Any, Any]) -> Library:
        request = context.request_context.request
        return OwnLibrary(services, NOBODY if request is None else principal_of(request.scope), place)

    server = create_server(library_of)
    server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        transport_security=hosts_that_may_ask(services.settings.server),
        max_request_body_size=services.settings.limits.max_request_mb * 1024 * 1024,
    )
    async with server.session_manager.run():
        yield server


def hosts_that_may_ask(server: ServerSettings) -> TransportSecuritySettings:
    """Protection from pages that reach this machine under a name of their own (DNS rebinding).

    A service that listens on loopback only answers to loopback's names, and to those of the origins that may ask, which
    a proxy in front of it has. Under which names another one is reached, nobody knows here; the origin of a request is
    checked for all of them before it comes here.
    """
    if not server.is_loopback:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    origins = list(server.origins)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[
            *(f"{host}{port}" for host in _LOOPBACK for port in ("", ":*")),
            *(urlsplit(origin).netloc for origin in origins),
        ],
        allowed_origins=[
            *(f"{scheme}://{host}{port}" for scheme in ("http", "https") for host in _LOOPBACK for port in ("", ":*")),
            *origins,
        ],
    )
