"""What the edge of a running service needs to let people in: keys, limits, and the log of changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from starlette.requests import HTTPConnection
from starlette.types import Scope

from service.access import AuditLog, Keyring, RateLimit
from service.config import ServerSettings
from service.errors import Misconfigured
from service.wiring import Services


@dataclass(frozen=True, slots=True)
class Gate:
    """Who is let in, how often, and where it is written what they changed."""

    keyring: Keyring
    rate: RateLimit
    audit: AuditLog


@asynccontextmanager
async def open_gate(services: Services) -> AsyncIterator[Gate]:
    """Open what an application keeps as ``app.state.gate``.

    Raises:
        Misconfigured: other machines can reach the address, and no keys exist.
    """
    server = services.settings.server
    keyring = Keyring(services.engine, server.keys_required)
    rate = RateLimit(services.settings.limits.requests_per_minute)
    try:
        check_exposure(server, any_keys=await keyring.any_keys())
        yield Gate(keyring, rate, AuditLog(services.engine))
    finally:
        await keyring.close()


def check_exposure(server: ServerSettings, *, any_keys: bool) -> None:
    """Refuse to serve a network without keys unless the settings say so.

    Raises:
        Misconfigured: the host is no loopback address, nothing says that keys are asked for, and none was ever made.
    """
    if (
        server.is_loopback
        or server.allow_remote_without_keys
        or server.require_keys
        or (any_keys and server.require_keys is None)
    ):
        return
    raise Misconfigured(
        f"{server.host} can be reached from other machines, and no API keys are asked for: make one by "
        "`fuzi keys create`, bind 127.0.0.1, or set FUZI_SERVER__ALLOW_REMOTE_WITHOUT_KEYS=true where everyone may "
        "read and write"
    )


def gate_of(scope: Scope) -> Gate:
    """The gate of the application that a request goes to."""
    return cast(Gate, HTTPConnection(scope).app.state.gate)
