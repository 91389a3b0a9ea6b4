"""What the flows of a replica work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from service.config import Settings


@dataclass(frozen=True, slots=True)
class ReplicaParts:
    """Both servers, as seen from here, and the primary as the replica's server sees it. The URLs hold passwords."""

    settings: Settings
    primary_dsn: str = field(repr=False)
    replica_dsn: str = field(repr=False)
    primary_url: str = field(repr=False)


class Watch(Protocol):
    """Hears how far a replica is."""

    def stage(self, words: str) -> None:
        """What is done now."""

    def copied(self, done: int, total: int) -> None:
        """Rows that are there, and all rows."""
