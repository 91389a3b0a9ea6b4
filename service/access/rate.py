"""How often each key may ask: a token bucket for each of them, in this process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from service.errors import RateLimited


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimit:
    """Lets each key make so many requests a minute, and as many at once when it was quiet before.

    Every process counts for itself: behind two of them a key may ask twice as often.

    Args:
        per_minute: None sets no limit.
        clock: seconds.
    """

    def __init__(self, per_minute: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: dict[UUID, _Bucket] = {}

    def take(self, key_id: UUID | None) -> None:
        """Count one request of a key; those that need no key are not counted.

        Raises:
            RateLimited: it has made as many as it may; ``details`` says when the next one is let in.
        """
        if self._per_minute is None or key_id is None:
            return
        now, most = self._clock(), float(self._per_minute)
        bucket = self._buckets.setdefault(key_id, _Bucket(most, now))
        bucket.tokens = min(most, bucket.tokens + (now - bucket.filled_at) * most / 60)
        bucket.filled_at = now
        if bucket.tokens < 1:
            seconds = max(1, math.ceil((1 - bucket.tokens) * 60 / most))
            raise RateLimited(
                f"this API key may make {self._per_minute} requests a minute; try again in {seconds} s",
                retry_after_seconds=seconds,
                limit_per_minute=self._per_minute,
            )
        bucket.tokens -= 1
