"""Word's automatic numbers: which label stands before which paragraph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.extract.ooxml.number_format import formatted
from service.extract.ooxml.styles import W, value_of

_PLACEHOLDER = re.compile(r"%([1-9])")
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list definition; ``text`` has placeholders ``%1`` … ``%9``."""

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    is_legal: bool = False
    style: str | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a paragraph; ``is_bullet`` when it carries no number."""

    level: int
    text: str
    is_bullet: bool


@dataclass(slots=True)
class _Definition:
    levels: dict[int, Level] = field(default_factory=dict)
    style_link: str | None = None


class Numbering:
    """Counts the paragraphs of a document in order. ``styles`` maps a numbering style to its list."""

    def __init__(self, root: Any | None, style_lists: Mapping[str, str]) -> None:
        self._definitions: dict[str, _Definition] = {}
        self._lists: dict[str, str] = {}
        self._overrides: dict[str, dict[int, int]] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        self._style_lists = style_lists
        if root is not None:
            self._read(root)

    def level_of_style(self, list_id: str, style: str | None) -> int:
        """Level that a list ties to a paragraph style, 0 when it ties none."""
        levels = self._levels(list_id)
        return next((number for number, level in levels.items() if style and level.style == style), 0)

    def label(self, list_id: str, level_number: int) -> Label | None:
        """Count one paragraph; ``None`` when the list is unknown or the paragraph is not numbered (list 0)."""
        levels = self._levels(list_id)
        level = levels.get(level_number)
        if level is None:
            return None
        counters = self._counters.setdefault(self._lists[list_id], {})
        if list_id not in self._begun:
            self._begun.add(list_id)
            for number, start in self._overrides.get(list_id, {}).items():
                counters[number] = start - 1
        counters[level_number] = counters.get(level_number, level.start - 1) + 1
        for deeper in [number for number in counters if number > level_number]:
            del counters[deeper]
        if level.number_format == "bullet":
            return Label(level_number, "-", is_bullet=True)
        text = _PLACEHOLDER.sub(lambda match: _part(match, levels, counters, level), level.text)
        return Label(level_number, text.strip(), is_bullet=not text.strip())

    def _levels(self, list_id: str) -> dict[int, Level]:
        definition = self._definitions.get(self._lists.get(list_id, ""))
        if definition is None:
            return {}
        if definition.style_link and not definition.levels:
            linked = self._definitions.get(self._lists.get(self._style_lists.get(definition.style_link, ""), ""))
            return linked.levels if linked else {}
        return definition.levels

    def _read(self, root: Any) -> None:
        for abstract in root.iterchildren(f"{W}abstractNum"):
            definition = _Definition(style_link=value_of(abstract.find(f"{W}numStyleLink")))
            for level in abstract.iterchildren(f"{W}lvl"):
                number = int(level.get(f"{W}ilvl") or 0)
                definition.levels[number] = _level(level)
            self._definitions[abstract.get(f"{W}abstractNumId") or ""] = definition
        for one in root.iterchildren(f"{W}num"):
            list_id = one.get(f"{W}numId") or ""
            self._lists[list_id] = value_of(one.find(f"{W}abstractNumId")) or ""
            for override in one.iterchildren(f"{W}lvlOverride"):
                start = value_of(override.find(f"{W}startOverride"))
                if start and start.isdigit():
                    number = int(override.get(f"{W}ilvl") or 0)
                    self._overrides.setdefault(list_id, {})[number] = int(start)


def _level(element: Any) -> Level:
    start = value_of(element.find(f"{W}start")) or "1"
    return Level(
        start=int(start) if start.isdigit() else 1,
        number_format=value_of(element.find(f"{W}numFmt")) or "decimal",
        text=value_of(element.find(f"{W}lvlText")) or "",
        is_legal=element.find(f"{W}isLgl") is not None,
        style=value_of(element.find(f"{W}pStyle")),
    )


def _part(match: re.Match[str], levels: Mapping[int, Level], counters: Mapping[int, int], level: Level) -> str:
    number = int(match.group(1)) - 1
    other = levels.get(number, Level())
    return formatted(counters.get(number, other.start), "decimal" if level.is_legal else other.number_format)
