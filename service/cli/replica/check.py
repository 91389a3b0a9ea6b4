"""What ``fuzi doctor`` looks at on the replica."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from rich.filesize import decimal

from service.cli.work.checks import Finding, State
from service.config import Settings
from service.db.replica.primary import Slot
from service.db.replica.verdict import REMADE
from service.flows.replica.status import Status, status
from service.wiring import database_dsn, replica_dsn


async def check_replica(settings: Settings) -> Iterable[Finding]:
    """May searches read it, how far is it behind, and does the primary keep its log for one that is gone?"""
    dsn = await asyncio.to_thread(database_dsn, settings)
    read_url = replica_dsn(settings, None)
    found = await status(dsn, read_url, most_lag_seconds=settings.database.read_max_lag_seconds)
    mine = None if found.replica is None else found.replica.slot_name
    others = [slot for slot in found.slots if not slot.is_active and slot.name != mine]
    return [*([] if read_url is None else [_replica(found)]), *map(_left, others)]


def _replica(found: Status) -> Finding:
    state = found.state
    if state.is_used:
        lag = f"{state.lag_seconds or 0:.1f} s and {decimal(state.lag_bytes or 0)} of log behind"
        return Finding("replica", State.OK, f"{state.message}; {lag}")
    mend = "fuzi replica init" if state.reason in REMADE else "fuzi replica status"
    return Finding("replica", State.WARN, f"searches go to the primary: {state.message}", mend)


def _left(slot: Slot) -> Finding:
    reason = (
        f"nobody reads the slot {slot.name}, for which the primary keeps {decimal(slot.kept_bytes or 0)} of its log"
    )
    return Finding("replica", State.WARN, reason, f"start that replica, or: fuzi replica drop --slot {slot.name} --yes")
