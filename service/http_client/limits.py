"""How hard a provider may be pressed: a limit that follows its 429 answers, and a breaker for outages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class AdaptiveLimit:
    """Calls in flight to one provider: halved when it says 429, one more after each full round of good answers.

    Additive increase, multiplicative decrease, as TCP does; a burst of 429 from calls that were already under way
    counts as one.
    """

    def __init__(self, largest: int) -> None:
        self._largest = float(largest)
        self._limit = float(largest)
        self._in_flight = 0
        self._decreases = 0
        self._changed = asyncio.Condition()

    @property
    def limit(self) -> int:
        """Calls allowed in flight now, at least 1."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Waits for a free place and holds it; yields the mark to hand to ``too_many``."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._in_flight < self.limit)
            self._in_flight += 1
        try:
            yield self._decreases
        finally:
            self._in_flight -= 1
            # Shielded, so that a cancelled call still wakes the next one.
            await asyncio.shield(self._wake())

    def too_many(self, mark: int) -> None:
        """The provider answered 429 to a call that started at ``mark``."""
        if mark == self._decreases:
            self._decreases += 1
            self._limit = max(1.0, self._limit / 2)

    def good(self) -> None:
        """The provider answered a call."""
        self._limit = min(self._largest, self._limit + 1 / self._limit)

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class CircuitBreaker:
    """Stops calling a provider that is down: after ``failures`` in a row nothing is sent for ``rest_seconds``, then
    one probe decides.

    Only outages count (no connection, time-out, 5xx). A 429 or a refusal is an answer: the provider is up.
    """

    def __init__(self, failures: int, rest_seconds: float, clock: Callable[[], float]) -> None:
        self._allowed = failures
        self._rest = rest_seconds
        self._clock = clock
        self._in_a_row = 0
        self._probe_at = 0.0

    @property
    def is_open(self) -> bool:
        """True from the last allowed failure until the provider answers again."""
        return self._in_a_row >= self._allowed

    def seconds_to_wait(self) -> float:
        """0 when a call may go out now (the first to ask after the rest becomes the probe), else the rest left."""
        if not self.is_open:
            return 0.0
        left = self._probe_at - self._clock()
        if left <= 0:
            # Everybody else waits another rest, or until the probe has answered.
            self._probe_at = self._clock() + self._rest
            return 0.0
        return left

    def answered(self) -> None:
        """The provider answered: closed."""
        self._in_a_row = 0

    def failed(self) -> None:
        """The provider did not answer, or with 5xx."""
        self._in_a_row += 1
        if self.is_open:
            self._probe_at = self._clock() + self._rest
