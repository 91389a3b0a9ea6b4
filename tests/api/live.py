"""The application behind a real HTTP server on a socket, in a thread with an event loop of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn

from service.app import create_app
from service.config import Settings
from service.embed import Embedder
from service.extract import create_extractor
from service.wiring import Services
from tests.api.conftest import Opener, opener


def with_extractor(embedder: Embedder) -> Opener:
    """Opens the real parts with an extractor in the server's own event loop."""

    @asynccontextmanager
    async def open_parts(settings: Settings) -> AsyncIterator[Services]:
        extractor = create_extractor(settings.extract)
        try:
            async with opener(extractor, embedder)(settings) as services:
                yield services
        finally:
            await extractor.close()

    return open_parts


@contextmanager
def live_server(settings: Settings, embedder: Embedder) -> Iterator[str]:
    """URL of a running server."""
    app = create_app(settings, with_extractor(embedder))
    # uvloop hears of ended children by a signal that its loops share: with two of them in a process one may never hear
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="on", loop="asyncio")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server did not start"
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
