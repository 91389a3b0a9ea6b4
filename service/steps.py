"""Milliseconds and progress of the named steps of a flow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Steps:
    """Times the steps of one run; each step's word is also its log field (``embed`` → ``embed_ms``).

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begun = clock()
        self._milliseconds: dict[str, float] = {}
        self.current = ""
        """Word of the step that was begun last."""

    @contextmanager
    def step(self, word: str) -> Iterator[None]:
        """Run one step; a word used twice adds up."""
        self.current = word
        begun = self._clock()
        try:
            yield
        finally:
            key = f"{word}_ms"
            self._milliseconds[key] = self._milliseconds.get(key, 0.0) + (self._clock() - begun) * 1000

    def timings_ms(self) -> dict[str, float]:
        """Milliseconds of each step so far, and ``total_ms`` since the start."""
        total = (self._clock() - self._begun) * 1000
        return {key: round(value, 3) for key, value in {**self._milliseconds, "total_ms": total}.items()}
