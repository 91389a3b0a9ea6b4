"""Values as people read them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

_UNITS = ("B", "kB", "MB", "GB", "TB")
NONE = "–"
_BLANK_LINES = re.compile(r"(\n(?:[ \t]*\n)+)")


def size(byte_count: int) -> str:
    """``512 B``, ``1.4 MB``: powers of 1,024, as file managers count."""
    value, unit = float(byte_count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {_UNITS[unit]}"


def page_range(first: int | None, last: int | None) -> str:
    """``3`` or ``3–5``; empty when pages are unknown."""
    if first is None:
        return ""
    return str(first) if last in {None, first} else f"{first}–{last}"


def number(value: float | None, digits: int = 0) -> str:
    """With so many digits after the point; a dash when there is none."""
    return NONE if value is None else f"{value:,.{digits}f}"


def signed(value: float, digits: int) -> str:
    """A difference, with its sign: ``+0.120``, ``−0.050``, and ``0.000`` for what rounds to nothing."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def plain(value: float) -> str:
    """As form fields have it: ``70``, ``0.5``."""
    return f"{value:g}" if value < 1e6 else str(int(value))


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def gaps(text: str) -> Markup:
    """A text with its blank lines in elements of their own, to be shown less high; nothing is left out."""
    pieces = _BLANK_LINES.split(text)
    return Markup("").join(
        Markup('<span class="gap">{}</span>').format(piece) if number % 2 else escape(piece)
        for number, piece in enumerate(pieces)
    )


def moment(value: datetime) -> str:
    """Date and time in UTC, as long as no script writes it for the visitor's own zone."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float) -> str:
    """``8 s``, ``3 min``, ``5 h``, ``2 d``."""
    for limit, length, unit in ((100, 1, "s"), (6000, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / 86_400:.0f} d"
