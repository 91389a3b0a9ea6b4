"""How the replica is, as a search would judge it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from service.db.replica import copied, primary
from service.db.replica.copied import ReplicaFacts
from service.db.replica.lag import LagClock
from service.db.replica.primary import PrimaryFacts, Slot
from service.db.replica.session import Session, session
from service.db.replica.verdict import UNREACHABLE, ReplicaState, bytes_behind, lag_reason, standing
from service.errors import DatabaseUnavailable

_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Status:
    """``state`` of the replica of the URL, what both servers say, and all replicas that the primary knows."""

    state: ReplicaState
    primary: PrimaryFacts
    replica: ReplicaFacts | None
    slots: tuple[Slot, ...]


async def status(
    primary_dsn: str, replica_dsn: str | None, *, most_lag_seconds: float, patience_seconds: float = 3.0
) -> Status:
    """Look at both servers. The lag is measured: how long it takes until what is written now has arrived.

    Args:
        patience_seconds: a replica that is further behind is said to be catching up.

    Raises:
        DatabaseUnavailable: the primary does not answer.
    """
    async with session(primary_dsn) as source:
        try:
            replica = None if replica_dsn is None else await _replica(replica_dsn)
            reason = None if replica_dsn is not None else "not_made"
        except DatabaseUnavailable:
            replica, reason = None, UNREACHABLE
        slot = None if replica is None else replica.slot_name
        known = await primary.known_facts(source, slot)
        reason = reason or standing(known, replica)
        seconds = None
        if reason is None:
            seconds = await _lag(source, slot, min(patience_seconds, most_lag_seconds))
            reason = lag_reason(seconds, most_lag_seconds)
        state = ReplicaState(reason, bytes_behind(known), seconds)
        return Status(state, known, replica, tuple(await primary.slots(source)))


async def _replica(dsn: str) -> ReplicaFacts | None:
    async with session(dsn) as target:
        return await copied.facts(target)


async def _lag(source: Session, slot: str | None, patience_seconds: float) -> float | None:
    clock, lag = asyncio.get_running_loop().time, LagClock()
    begun = clock()
    lag.mark(begun, (await primary.known_facts(source, slot)).written)
    while clock() - begun <= patience_seconds:
        known = await primary.known_facts(source, slot)
        seconds = lag.seconds(clock(), known.applied or 0)
        if seconds is not None:
            return seconds
        await asyncio.sleep(_PAUSE_SECONDS)
    return None
