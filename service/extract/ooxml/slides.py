"""PowerPoint: slides in their order, titles first and marked, levels of bullets, notes."""

from __future__ import annotations

from typing import Any

from service.extract.ooxml.marks import mark
from service.types import BlockType

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})


def order_slides(presentation: Any, relationships: Any) -> None:
    """Rename the relationships of the slides so that their names sort as the slides are shown.

    Tika reads slides in the order of the names as text, where ``rId10`` comes before ``rId7``.
    """
    renamed: dict[str, str] = {}
    for number, slide in enumerate(presentation.iter(f"{P}sldId")):
        old = slide.get(f"{R}id")
        if old:
            renamed[old] = f"rIdSlide{number:06d}"
            slide.set(f"{R}id", renamed[old])
    for relationship in relationships:
        name = relationship.get("Id")
        if name in renamed:
            relationship.set("Id", renamed[name])


def annotate_slide(slide: Any) -> None:
    """Mark the title and the bullets of one slide, and put the title first. Footers and numbers leave."""
    tree = slide.find(f"{P}cSld/{P}spTree")
    if tree is None:
        return
    for shape in list(tree.iter(f"{P}sp")):
        kind = _kind(shape)
        if kind in _FURNITURE:
            shape.getparent().remove(shape)
        elif kind in _TITLES:
            _mark_title(shape)
            shape.getparent().remove(shape)
            tree.insert(2, shape)
        elif kind != "subTitle":
            for paragraph in shape.iter(f"{A}p"):
                _mark_bullet(paragraph, is_list=kind in {"", "body", "obj"})


def annotate_notes(notes: Any) -> None:
    """Mark the speaker's words as a quote; the other shapes of a notes page leave."""
    for shape in list(notes.iter(f"{P}sp")):
        if _kind(shape) == "body":
            for paragraph in shape.iter(f"{A}p"):
                _prepend(paragraph, mark(BlockType.QUOTE))
        else:
            shape.getparent().remove(shape)


def _kind(shape: Any) -> str | None:
    """Type of the placeholder, empty for one without a type, ``None`` for a shape that is no placeholder."""
    placeholder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    return None if placeholder is None else placeholder.get("type") or ""


def _mark_title(shape: Any) -> None:
    paragraphs = [paragraph for paragraph in shape.iter(f"{A}p") if _has_text(paragraph)]
    if paragraphs:
        _prepend(paragraphs[0], mark(BlockType.HEADING, 2))


def _mark_bullet(paragraph: Any, *, is_list: bool) -> None:
    properties = paragraph.find(f"{A}pPr")
    level = 0
    if properties is not None:
        if properties.find(f"{A}buNone") is not None:
            return
        written = properties.get("lvl") or "0"
        level = int(written) if written.isdigit() else 0
        is_list = is_list or any(properties.find(f"{A}{bullet}") is not None for bullet in ("buChar", "buAutoNum"))
    if is_list:
        _prepend(paragraph, mark(BlockType.LIST_ITEM, level, "-"))


def _has_text(paragraph: Any) -> bool:
    return any((text.text or "").strip() for text in paragraph.iter(f"{A}t"))


def _prepend(paragraph: Any, written: str) -> None:
    text = next((text for text in paragraph.iter(f"{A}t") if (text.text or "").strip()), None)
    if text is not None:
        text.text = written + text.text
