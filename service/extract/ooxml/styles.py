"""Paragraph styles of a Word file: their outline level and the list they belong to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_NAME = re.compile(r"^(?:heading|标题|標題)\s*([1-9])$", re.IGNORECASE)
_CONTENTS_NAME = re.compile(r"^(?:toc|目录)\s*[1-9]$", re.IGNORECASE)
_LIST_NAME = re.compile(r"^(?:list (?:bullet|number|continue)|列表项目符号|列表编号)\s*([2-5])$", re.IGNORECASE)
_LONGEST_CHAIN = 20


def value_of(element: Any | None) -> str | None:
    """The ``w:val`` of an element."""
    value = None if element is None else element.get(f"{W}val")
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style says, with what it inherits; ``outline`` starts at 0."""

    outline: int | None = None
    list_id: str | None = None
    list_level: int | None = None
    list_depth: int = 0
    """Level that the built-in name says (``List Bullet 3`` has 2), whatever the list itself says."""
    is_contents: bool = False
    is_title: bool = False


class Styles:
    """All paragraph styles of a file."""

    def __init__(self, root: Any | None) -> None:
        self._elements: dict[str, Any] = {}
        self._default: str | None = None
        for style in () if root is None else root.iterchildren(f"{W}style"):
            style_id = style.get(f"{W}styleId") or ""
            self._elements[style_id] = style
            if style.get(f"{W}default") in {"1", "true"} and style.get(f"{W}type") == "paragraph":
                self._default = style_id

    def style_lists(self) -> dict[str, str]:
        """List of every numbering style."""
        found = {}
        for style_id, element in self._elements.items():
            list_id = value_of(element.find(f"{W}pPr/{W}numPr/{W}numId"))
            if element.get(f"{W}type") == "numbering" and list_id:
                found[style_id] = list_id
        return found

    def style(self, style_id: str | None) -> Style:
        """The style with what its ancestors say where it is silent."""
        outline: int | None = None
        list_id: str | None = None
        list_level: int | None = None
        list_depth = 0
        is_contents = is_title = False
        current = style_id or self._default
        for step in range(_LONGEST_CHAIN):
            element = self._elements.get(current or "")
            if element is None:
                break
            name = value_of(element.find(f"{W}name")) or ""
            is_contents = is_contents or _CONTENTS_NAME.match(name) is not None
            if list_name := _LIST_NAME.match(name):
                list_depth = list_depth or int(list_name.group(1)) - 1
            is_title = is_title or (step == 0 and name.lower() in {"title", "标题"})
            if outline is None:
                outline = _outline(element, name)
            if list_id is None:
                list_id = value_of(element.find(f"{W}pPr/{W}numPr/{W}numId"))
                level = value_of(element.find(f"{W}pPr/{W}numPr/{W}ilvl"))
                list_level = int(level) if level and level.isdigit() else list_level
            current = value_of(element.find(f"{W}basedOn"))
        return Style(outline, list_id, list_level, list_depth, is_contents, is_title)


def _outline(element: Any, name: str) -> int | None:
    written = value_of(element.find(f"{W}pPr/{W}outlineLvl"))
    if written is not None and written.isdigit():
        return int(written)
    match = _HEADING_NAME.match(name)
    return int(match.group(1)) - 1 if match else None
