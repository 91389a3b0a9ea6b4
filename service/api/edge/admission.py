"""How many searches run at once, and how many may wait: more load than that is sent away at once, not piled up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.edge.error_handlers import error_response
from service.config import LimitSettings
from service.errors import Overloaded
from service.metrics import Metrics

_RETRY_AFTER_SECONDS = 1


class Admission:
    """Lets a bounded number of searches in; the next ones wait in line, first come, first served.

    A search that finds the line full, or stood in it for ``search_wait_seconds``, is refused. So what is accepted ends
    in bounded time however many ask, and the refused learn it before any work was done for them.
    """

    def __init__(self, limits: LimitSettings, metrics: Metrics) -> None:
        self._limits = limits
        self._metrics = metrics
        self._places = asyncio.Semaphore(limits.searches_at_once)
        self._waiting = 0
        metrics.watch_admission(lambda: self._waiting)

    async def enter(self) -> None:
        """Take a place, after waiting for one if need be; `leave` gives it back.

        Raises:
            Overloaded: the line is full, or it moves too slowly.
        """
        if not self._places.locked():
            await self._places.acquire()
            return
        if (refusal := self.refusal()) is not None:
            raise refusal
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.search_wait_seconds):
                await self._places.acquire()
        except TimeoutError:
            raise self._refused() from None
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Give the place to the next in line."""
        self._places.release()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place while the block runs.

        Raises:
            Overloaded: as `enter`.
        """
        await self.enter()
        try:
            yield
        finally:
            self.leave()

    def refusal(self) -> Overloaded | None:
        """Why nobody is let in just now, which counts as a search refused; None while there is room."""
        is_full = self._places.locked() and self._waiting >= self._limits.searches_waiting
        return self._refused() if is_full else None

    def _refused(self) -> Overloaded:
        self._metrics.search_refused()
        return Overloaded(
            "more searches are asked for than this machine can answer; try again in a moment",
            retry_after_seconds=_RETRY_AFTER_SECONDS,
        )


async def _admitted(request: Request) -> AsyncIterator[None]:
    admission: Admission = request.app.state.admission
    async with admission.place():
        yield


ADMITTED = Depends(_admitted, scope="function")
"""Makes a route wait for its place, which it gives back before the answer is sent."""


class Turnstile:
    """Answers a search as `Admission.enter` would when the line is full, before anything was done for it.

    Its body is not read, no key is asked for and no route is looked for: thousands of refusals must leave the event
    loop room for those who are in, and for ``/healthz``.
    """

    def __init__(self, app: ASGIApp, paths: frozenset[str]) -> None:
        self._app = app
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] == "http" and scope["path"] in self._paths:
            refusal = scope["app"].state.admission.refusal()
            if refusal is not None:
                await error_response(refusal, scope["state"]["request_id"])(scope, receive, send)
                return
        await self._app(scope, receive, send)
