"""The list of keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from service.access import KeyRecord
from service.types import AccessScope


def draw_keys(console: Console, keys: Sequence[KeyRecord], now: datetime) -> None:
    """Draw all keys, two lines each; those that are not valid any more are dim."""
    if not keys:
        console.print(
            "no keys: the service asks nobody who it is; `fuzi keys create NAME --scope admin` makes the first"
        )
        return
    for key in keys:
        style = "bold" if key.is_valid(now) else "dim"
        console.print(Text.assemble((f"{key.prefix}… {key.name}", style), (f"  {key.id}", "dim")), soft_wrap=True)
        console.print(Text("  " + " · ".join(_facts(key, now)), style="dim"), soft_wrap=True)


def _facts(key: KeyRecord, now: datetime) -> list[str]:
    scope = next(scope for scope in reversed(AccessScope) if scope in key.scopes)
    seen = "all collections" if key.collections is None else ", ".join(sorted(key.collections))
    facts = [str(scope), seen, f"made {_day(key.created_at)}"]
    if key.revoked_at is not None:
        facts.append(f"revoked {_day(key.revoked_at)}")
    elif key.expires_at is not None:
        facts.append(f"{'expired' if key.expires_at <= now else 'expires'} {_day(key.expires_at)}")
    if key.replaced_by is not None:
        facts.append("rotated")
    facts.append("never used" if key.last_used_at is None else f"last used {_day(key.last_used_at)}")
    return facts


def _day(moment: datetime) -> str:
    return moment.astimezone().isoformat(" ", "minutes")
