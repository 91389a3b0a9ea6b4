"""May searches read the replica now? Decided from what was last seen of both servers."""

from __future__ import annotations

from dataclasses import dataclass

from service.db.models import BM25_INDEXES
from service.db.replica.copied import ReplicaFacts
from service.db.replica.primary import PrimaryFacts

UNREACHABLE = "unreachable"

REASONS = {
    "unknown": "nothing is known of the replica yet",
    UNREACHABLE: "the replica does not answer",
    "not_made": "the database of the replica's URL is no replica yet; `fuzi replica init` makes it one",
    "copying": "the first copy or the building of its indexes is under way; `fuzi replica init` shows how far",
    "not_subscribed": "the replica's subscription is gone or disabled; `fuzi replica init` makes the replica anew",
    "slot_missing": "the primary has no slot for the replica; `fuzi replica init` makes the replica anew",
    "slot_lost": "the replica stayed away too long, the primary has dropped the log it needs; `fuzi replica init` "
    "makes the replica anew",
    "schema_differs": "the replica's schema is of another revision; `fuzi replica init` makes the replica anew",
    "model_differs": "the replica's vectors come from another embedding model; `fuzi replica init` makes it anew",
    "bm25_rebuilding": "PostgreSQL crashed on the replica, its BM25 index is rebuilt by a running `fuzi serve`",
    "catching_up": "it is not known yet how far the replica is behind",
    "behind": "the replica is further behind than FUZI_DATABASE__READ_MAX_LAG_SECONDS",
}
"""Why searches go to the primary: a stable code, and words."""

REMADE = frozenset({"not_made", "not_subscribed", "slot_missing", "slot_lost", "schema_differs", "model_differs"})
"""Reasons that do not pass by waiting."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The replica as this process last saw it; ``reason`` is None while searches read it, else one of `REASONS`.

    ``lag_bytes`` of the primary's log it has not applied; what it shows is at most ``lag_seconds`` old. None: unknown.
    """

    reason: str | None = "unknown"
    lag_bytes: int | None = None
    lag_seconds: float | None = None

    @property
    def is_used(self) -> bool:
        """Whether searches read the replica."""
        return self.reason is None

    @property
    def message(self) -> str:
        """The reason in words."""
        return "searches read the replica" if self.reason is None else REASONS[self.reason]


def standing(primary: PrimaryFacts, replica: ReplicaFacts | None) -> str | None:
    """What is wrong with the replica, its lag apart; None when nothing is."""
    if replica is None:
        return "not_made"
    checks = {
        "schema_differs": replica.revision == primary.revision,
        "not_subscribed": replica.is_subscribed and replica.enabled,
        "slot_missing": primary.wal_status is not None,
        "slot_lost": primary.wal_status != "lost",
        "model_differs": replica.model == primary.model,
        "copying": replica.is_ready and not replica.copying,
        "bm25_rebuilding": replica.whole >= set(BM25_INDEXES),
    }
    return next((reason for reason, is_well in checks.items() if not is_well), None)


def lag_reason(seconds: float | None, most_seconds: float) -> str | None:
    """Whether the lag keeps searches away."""
    if seconds is None:
        return "catching_up"
    return "behind" if seconds > most_seconds else None


def bytes_behind(primary: PrimaryFacts) -> int | None:
    """Bytes of the primary's log that the replica has not applied."""
    return None if primary.applied is None else max(0, primary.written - primary.applied)
