"""How hard and how long a provider is asked, and what its failures become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from service.config import ChatSettings, EmbedSettings
from service.errors import FuziError, Unavailable


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    """Limits of the calls to one provider.

    ``attempts`` counts failures; answers of 429 only count against the total time, because a rate limit passes.
    Without ``wait_while_open`` a call fails at once while the breaker is open, as urgent ones always do.
    """

    timeout_seconds: float = 30
    total_timeout_seconds: float = 300
    attempts: int = 5
    concurrency: int = 4
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30
    breaker_failures: int = 8
    breaker_rest_seconds: float = 10
    wait_while_open: bool = True

    @classmethod
    def of(cls, settings: EmbedSettings | ChatSettings) -> Self:
        """The limits that a provider's settings name."""
        return cls(
            timeout_seconds=settings.timeout_seconds,
            total_timeout_seconds=settings.total_timeout_seconds,
            attempts=settings.attempts,
            concurrency=settings.concurrency,
        )


@dataclass(frozen=True, slots=True)
class ProviderErrors:
    """Which leaves of the error tree this provider's failures become."""

    unavailable: type[Unavailable]
    refused: type[FuziError]


class TryAgain(Exception):
    """A failure that another try may mend."""

    def __init__(self, message: str, status: int | None = None, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.wait_seconds = wait_seconds


@dataclass(slots=True)
class Call:
    """One call with all its tries."""

    seconds: float
    urgent: bool
    deadline: float = float("inf")
    failures: int = 0
