"""Milliseconds and progress of the named steps of a flow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from service.tracing import span


class Steps:
    """Times the steps of one run; each step's word is also its log field (``embed`` → ``embed_ms``) and its span.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begun = clock()
        self._milliseconds: dict[str, float] = {}
        self._running: dict[str, float] = {}
        self.current = ""
        """Word of the step that was begun last."""

    @contextmanager
    def step(self, word: str) -> Iterator[None]:
        """Run one step; a word used twice adds up."""
        self.current = word
        self._running[word] = self._clock()
        try:
            with span(word):
                yield
        finally:
            self._milliseconds[word] = self._so_far(word, self._clock())
            del self._running[word]

    def timings_ms(self) -> dict[str, float]:
        """Milliseconds of each step so far, the one at work included, and ``total_ms`` since the start."""
        now = self._clock()
        words = [*self._milliseconds, *(word for word in self._running if word not in self._milliseconds)]
        timings = {f"{word}_ms": self._so_far(word, now) for word in words}
        return {key: round(value, 3) for key, value in {**timings, "total_ms": (now - self._begun) * 1000}.items()}

    def _so_far(self, word: str, now: float) -> float:
        return self._milliseconds.get(word, 0.0) + (now - self._running.get(word, now)) * 1000
