"""Run uvicorn on a socket of our own, and say why when the service cannot start; metrics of a worker too."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.access import open_gate
from service.api.health import create_metrics_app
from service.app import create_app
from service.config import ServerSettings, Settings
from service.db.engine import database_errors
from service.errors import FuziError, Misconfigured
from service.wiring import Services


def run_server(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes; ``announce`` hears the URL once requests are answered.

    Raises:
        Misconfigured: the address cannot be bound, or must not be without keys.
        FuziError: a part of the service cannot start; the message says which.
    """
    failures: list[FuziError] = []
    with listen(settings.server) as listener:
        host, port = listener.getsockname()[:2]
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        app = create_app(settings)
        config = uvicorn.Config(
            _remembering(app, failures),
            lifespan="on",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=math.ceil(settings.server.graceful_seconds),
        )
        try:
            _Announcing(config, lambda: announce(url), app).run(sockets=[listener])
        except SystemExit:
            # uvicorn leaves this way when the start-up fails
            if not failures:
                raise
    if failures:
        raise failures[0]


@asynccontextmanager
async def measured(services: Services, announce: Callable[[str], None]) -> AsyncIterator[None]:
    """Answer `GET /metrics` while the block runs, when the settings name a port; ``announce`` hears the URL.

    Raises:
        Misconfigured: the address cannot be bound, or must not be without keys.
    """
    port = services.settings.jobs.metrics_port
    if port is None:
        yield
        return
    address = services.settings.server.model_copy(update={"port": port})
    async with open_gate(services) as gate:
        with listen(address) as listener:
            config = uvicorn.Config(
                create_metrics_app(services, gate), lifespan="off", log_config=None, access_log=False
            )
            server = _Beside(config)
            task = asyncio.create_task(server.serve(sockets=[listener]), name="metrics")
            announce(f"metrics at http://{address.host}:{listener.getsockname()[1]}/metrics")
            try:
                yield
            finally:
                server.should_exit = True
                await task


def listen(server: ServerSettings) -> socket.socket:
    """A listening socket for these settings.

    Raises:
        Misconfigured: no such address here, or the port is taken or not allowed.
    """
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        return socket.create_server((server.host, server.port), family=family, backlog=2048)
    except OSError as error:
        raise Misconfigured(
            f"cannot listen on {server.host}, port {server.port} ({error.strerror or error}); choose another --port"
        ) from error


class _Announcing(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None], app: FastAPI) -> None:
        super().__init__(config)
        self._tell_started = started
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # before the server waits for what is under way: streams would never end by themselves
        self._app.state.services.stopping.set()
        await super().shutdown(sockets=sockets)


class _Beside(uvicorn.Server):
    """Leaves the signals to the worker that it runs beside."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _remembering(app: ASGIApp, failures: list[FuziError]) -> ASGIApp:
    """Keep the error that stopped the start-up: uvicorn would only log its trace."""

    async def remembering(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return

        async def send_without_trace(message: Message) -> None:
            known: dict[str, Any] = {"message": ""} if message["type"] == "lifespan.startup.failed" else {}
            await send({**message, **known})

        try:
            with database_errors():
                await app(scope, receive, send_without_trace)
        except FuziError as error:
            failures.append(error)
            raise

    return remembering
