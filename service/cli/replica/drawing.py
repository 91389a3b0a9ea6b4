"""How a replica is, for a person and for a program."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from service.db.replica.primary import Slot
from service.flows.replica.status import Status


def status_json(found: Status) -> dict[str, Any]:
    """All that is known of the replica; ``replica`` is null when it does not answer or is none."""
    replica = found.replica
    return {
        "used": found.state.is_used,
        "reason": found.state.reason,
        "message": found.state.message,
        "lag_bytes": found.state.lag_bytes,
        "lag_seconds": found.state.lag_seconds,
        "revision": found.primary.revision,
        "model": asdict(found.primary.model),
        "replica": None
        if replica is None
        else {
            "slot": replica.slot_name,
            "revision": replica.revision,
            "model": asdict(replica.model),
            "copying": replica.copying,
            "errors": replica.errors,
        },
        "slots": [asdict(slot) for slot in found.slots],
    }


def draw_status(console: Console, found: Status) -> None:
    """The same in a few lines."""
    state, replica = found.state, found.replica
    _say(console, "replica", state.message)
    if state.lag_seconds is not None:
        _say(console, "lag", f"{state.lag_seconds:.1f} s, {decimal(state.lag_bytes or 0)} of the primary's log")
    elif state.lag_bytes is not None:
        _say(console, "lag", f"{decimal(state.lag_bytes)} of the primary's log")
    if replica is not None and replica.revision != found.primary.revision:
        _say(console, "schema", f"revision {replica.revision}, that of the primary is {found.primary.revision}")
    if replica is not None and replica.errors:
        _say(console, "errors", f"{replica.errors} so far; the log of the replica's server has them")
    for slot in found.slots:
        _say(console, "slot", _slot(slot))


def _slot(slot: Slot) -> str:
    reading = "is read" if slot.is_active else "nobody reads it"
    return f"{slot.name}: {reading}, the primary keeps {decimal(slot.kept_bytes or 0)} of its log ({slot.wal_status})"


def _say(console: Console, word: str, text: str) -> None:
    console.print(Text.assemble((f"{word:8}", "bold"), text), soft_wrap=True)
