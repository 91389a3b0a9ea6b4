"""Give a replica up: nothing of it stays on the primary."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from service.db.replica import copied, primary
from service.db.replica.session import Session, session
from service.errors import DatabaseUnavailable, InvalidInput
from service.flows.replica.make import alone
from service.flows.replica.parts import ReplicaParts

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was dropped; ``emptied`` says that the replica's copy is gone too."""

    slot: str | None
    emptied: bool
    publication: bool


async def give_up(parts: ReplicaParts) -> Dropped:
    """End the subscription, drop the copy on the replica, then the slot, and with the last slot the publication.

    Raises:
        DatabaseUnavailable: one of the servers does not answer; see `give_up_slot`.
        InvalidInput: the replica's database is no replica.
    """
    async with session(parts.primary_dsn) as source, _replica(parts) as target, alone(source):
        identity = await copied.identify(target)
        slot = copied.slot_name(identity)
        if identity.is_replica:
            await copied.empty(target)
        dropped = await primary.drop_slot(source, slot)
        if not (dropped or identity.is_replica):
            raise InvalidInput(f"the database {identity.database} of the replica's URL is no replica of this primary")
        gone = Dropped(slot if dropped else None, identity.is_replica, await primary.withdraw(source))
    log.info("replica_dropped", slot=gone.slot, emptied=gone.emptied, publication=gone.publication)
    return gone


@asynccontextmanager
async def _replica(parts: ReplicaParts) -> AsyncIterator[Session]:
    try:
        async with session(parts.replica_dsn) as target:
            yield target
    except DatabaseUnavailable as error:
        raise DatabaseUnavailable(
            "the replica does not answer; when it will not come back, drop its slot alone: "
            "`fuzi replica drop --slot NAME` (`fuzi replica status` lists them)"
        ) from error.__cause__


async def give_up_slot(primary_dsn: str, slot: str, *, patience_seconds: float = primary.RELEASE_SECONDS) -> Dropped:
    """Drop the slot of a replica that will not come back, so that the primary keeps no log for it.

    Args:
        patience_seconds: a replica that still reads from it may end meanwhile.

    Raises:
        InvalidInput: there is no such slot.
        Conflict: its replica is alive and reads from it.
    """
    async with session(primary_dsn) as source, alone(source):
        if not await primary.drop_slot(source, slot, patience_seconds):
            raise InvalidInput(f"the primary has no slot {slot} of a replica; `fuzi replica status` lists them")
        gone = Dropped(slot, False, await primary.withdraw(source))
    log.info("replica_dropped", slot=slot, emptied=False, publication=gone.publication)
    return gone
