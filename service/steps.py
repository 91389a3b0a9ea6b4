"""Milliseconds and progress of the named steps of a flow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Steps:
    """Times the steps of one run; each step's word is also its log field (``embed`` → ``embed_ms``).

    Args:
        on_step: called with the step's word when it begins.
        clock: monotonic seconds.
    """

    def __init__(
        self, on_step: Callable[[str], None] | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._on_step = on_step
        self._clock = clock
        self._begun = clock()
        self._milliseconds: dict[str, float] = {}

    @contextmanager
    def step(self, word: str) -> Iterator[None]:
        """Run one step; a word used twice adds up."""
        if self._on_step is not None:
            self._on_step(word)
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
