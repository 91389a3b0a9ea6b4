"""List items from style names, as Tika gives them for Word files (``list_Bullet_2``, ``列表编号``)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_BULLET = re.compile(r"^(?:list_bullet|列表项目符号|项目符号)(?:[_ ](\d))?$", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:list_number|列表编号|编号)(?:[_ ](\d))?$", re.IGNORECASE)
_HEADING = re.compile(r"^(?:heading|标题|標題)[_ ]?([1-9])$", re.IGNORECASE)
_QUOTE = re.compile(r"^(?:intense_)?quote$|^(?:明显)?引用$", re.IGNORECASE)


def heading_level(style: str) -> int | None:
    """Level 1 to 6 when the style is a heading, in English or Chinese."""
    match = _HEADING.match(style)
    return min(int(match.group(1)), 6) if match else None


def is_quote(style: str) -> bool:
    """True for the built-in quote styles."""
    return _QUOTE.match(style) is not None


@dataclass(slots=True)
class StyleList:
    """Counts the items of lists that are known by style only; a paragraph of another style ends the list."""

    _counts: dict[int, int] = field(default_factory=dict)

    def item(self, style: str) -> tuple[int, str] | None:
        """Level from 0 and marker of the item, or ``None`` (and the counts start anew) when it is no item."""
        if match := _BULLET.match(style):
            level = int(match.group(1) or 1) - 1
            self._forget_below(level - 1)
            return level, "-"
        if match := _NUMBER.match(style):
            level = int(match.group(1) or 1) - 1
            self._forget_below(level)
            self._counts[level] = self._counts.get(level, 0) + 1
            return level, f"{self._counts[level]}."
        self._counts.clear()
        return None

    def _forget_below(self, level: int) -> None:
        for deeper in [known for known in self._counts if known > level]:
            del self._counts[deeper]
