"""How far a replica is behind, in seconds, from nothing but positions in the primary's log and one clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

_MOST_MARKS = 3600
"""Of a replica that does not come on; the oldest are forgotten, which makes it look older than it is, never fresher."""


@dataclass(slots=True)
class LagClock:
    """Remembers when the primary's log had reached which position (bytes since its beginning).

    A replica that has applied a position has all that was written when the log stood there. No row is written for it
    and no clock of another machine is read, so a quiet primary costs nothing and clocks that differ do not matter.
    """

    _marks: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_MOST_MARKS))
    _reached_at: float | None = None

    def mark(self, now: float, written: int) -> None:
        """Note that the primary's log ends at ``written`` now; ``now`` is in seconds of a monotonic clock."""
        if self._marks and self._marks[-1][1] == written:
            self._marks[-1] = (now, written)
        else:
            self._marks.append((now, written))

    def seconds(self, now: float, applied: int) -> float | None:
        """At most so old is what a replica at position ``applied`` shows; None while that cannot be known.

        It cannot before the replica has reached the first position noted here: a replica that is an hour behind is
        not taken for a fresh one by a process that has just started.
        """
        while self._marks and self._marks[0][1] <= applied:
            self._reached_at = self._marks.popleft()[0]
        return None if self._reached_at is None else max(0.0, now - self._reached_at)
