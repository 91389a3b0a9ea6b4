"""Word: automatic numbers, list levels, outline levels and merged cells, written into the document part."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from lxml import etree

from service.extract.ooxml.marks import drop_mark, mark
from service.extract.ooxml.numbering import Label, Numbering
from service.extract.ooxml.styles import Style, Styles, W, value_of
from service.types import BlockType

_BODY_OUTLINE = 9
_WIDEST_SPAN = 63
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def annotate_word(document: Any, styles_root: Any | None, numbering_root: Any | None) -> None:
    """Put a mark in front of every paragraph that is a heading, an item or an entry of a table of contents."""
    styles = Styles(styles_root)
    numbering = Numbering(numbering_root, styles.style_lists())
    known: dict[str | None, Style] = {}
    for paragraph in document.iter(f"{W}p"):
        properties = paragraph.find(f"{W}pPr")
        style_id = None if properties is None else value_of(properties.find(f"{W}pStyle"))
        style = known.get(style_id)
        if style is None:
            style = known[style_id] = styles.style(style_id)
        if not any(text.text for text in paragraph.iter(f"{W}t")):
            continue
        written = _mark_of(properties, style, style_id, numbering)
        if written:
            _prepend(paragraph, properties, written)
    for cell in list(document.iter(f"{W}tc")):
        _widen(cell)


def _mark_of(properties: Any | None, style: Style, style_id: str | None, numbering: Numbering) -> str | None:
    if style.is_contents:
        return drop_mark()
    label = _label(properties, style, style_id, numbering)
    outline = style.outline
    if properties is not None and (written := value_of(properties.find(f"{W}outlineLvl"))) and written.isdigit():
        outline = int(written)
    if style.is_title:
        outline = 0
    text = "" if label is None or label.is_bullet else label.text
    if outline is not None and outline < _BODY_OUTLINE:
        return mark(BlockType.HEADING, min(outline + 1, 6), text)
    if label is None:
        return None
    if label.text.startswith("第"):
        return mark(BlockType.PARAGRAPH, 0, label.text)
    return mark(BlockType.LIST_ITEM, max(label.level, style.list_depth), label.text or "-")


def _label(properties: Any | None, style: Style, style_id: str | None, numbering: Numbering) -> Label | None:
    direct = None if properties is None else properties.find(f"{W}numPr")
    list_id = None if direct is None else value_of(direct.find(f"{W}numId"))
    level = None if direct is None else value_of(direct.find(f"{W}ilvl"))
    if list_id is None:
        list_id = style.list_id
        if list_id is None:
            return None
        level_number = style.list_level
        if level_number is None:
            level_number = numbering.level_of_style(list_id, style_id)
    else:
        level_number = 0
    if level is not None and level.isdigit():
        level_number = int(level)
    return numbering.label(list_id, level_number)


def _prepend(paragraph: Any, properties: Any | None, written: str) -> None:
    """Insert the mark as the first run, and switch the automatic number off, so that nobody writes it twice."""
    run = etree.Element(f"{W}r")
    text = etree.SubElement(run, f"{W}t")
    text.text = written
    text.set(_SPACE, "preserve")
    paragraph.insert(0 if properties is None else paragraph.index(properties) + 1, run)
    if properties is None:
        return
    direct = properties.find(f"{W}numPr")
    if direct is not None:
        for child in list(direct):
            direct.remove(child)
        etree.SubElement(direct, f"{W}numId").set(f"{W}val", "0")


def _widen(cell: Any) -> None:
    """Add empty cells after one that spans columns, so that every row has all its columns."""
    span = value_of(cell.find(f"{W}tcPr/{W}gridSpan"))
    if not span or not span.isdigit():
        return
    empty = etree.Element(f"{W}tc")
    etree.SubElement(empty, f"{W}p")
    for _ in range(min(int(span), _WIDEST_SPAN) - 1):
        cell.addnext(deepcopy(empty))
