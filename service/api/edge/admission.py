"""How many searches run at once, and how many may wait: more load than that is sent away at once, not piled up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import Depends, Request

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
        if self._waiting >= self._limits.searches_waiting:
            raise self._refusal()
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.search_wait_seconds):
                await self._places.acquire()
        except TimeoutError:
            raise self._refusal() from None
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Give the place to the next in line."""
        self._places.release()

    def _refusal(self) -> Overloaded:
        self._metrics.search_refused()
        return Overloaded(
            "more searches are asked for than this machine can answer; try again in a moment",
            retry_after_seconds=_RETRY_AFTER_SECONDS,
        )


async def _admitted(request: Request) -> AsyncIterator[None]:
    admission: Admission = request.app.state.admission
    await admission.enter()
    try:
        yield
    finally:
        admission.leave()


ADMITTED = Depends(_admitted, scope="function")
"""Makes a route wait for its place, which it gives back before the answer is sent."""
