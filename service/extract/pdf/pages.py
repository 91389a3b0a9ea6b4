"""XHTML that Tika makes of a PDF → lines of pages, the outline, and what else is in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from service.config import ExtractSettings
from service.extract.pdf.furniture import drop_furniture
from service.extract.pdf.glyphs import unify_glyphs
from service.extract.pdf.han_gaps import close_all_gaps, close_gaps
from service.extract.pdf.lines import Line
from service.extract.pdf.reflow import Paragraph, as_laid_out, reflow
from service.extract.structure.draft import Draft, DraftBlock
from service.extract.structure.inline import name_of
from service.types import BlockType

_BULLET = re.compile(r"^[•●○◆◇■▪▫➢►✓·]\s*(?=\S)|^[-–]\s+(?=\S)")


@dataclass(slots=True)
class PdfPages:
    """``outline`` maps the text of a bookmark, without blanks, to its heading level."""

    pages: list[list[Line]] = field(default_factory=list)
    outline: dict[str, int] = field(default_factory=dict)
    is_ocr: bool = False


def take_pages(body: Any) -> PdfPages:
    """Take pages and outline out of the body; what stays in it are attachments and form fields."""
    found = PdfPages()
    if body.find("{*}div[@class='page']") is None:
        lines = _lines(body)
        found.pages = [lines] if lines else []
        found.is_ocr = body.find("{*}div[@class='ocr']") is not None
        for child in list(body):
            if name_of(child) == "p" or child.get("class") == "ocr":
                body.remove(child)
        return found
    for child in list(body):
        if name_of(child) == "div" and child.get("class") == "page":
            found.is_ocr = found.is_ocr or child.find(".//{*}div[@class='ocr']") is not None
            found.pages.append(_lines(child))
            body.remove(child)
        elif name_of(child) == "ul" and found.pages:
            _outline(child, 1, found.outline)
            body.remove(child)
    return found


@dataclass(frozen=True, slots=True)
class Mending:
    """Which effects of the layout are mended."""

    join_lines: bool = True
    drop_furniture: bool = True
    close_gaps: bool = True

    @classmethod
    def of(cls, settings: ExtractSettings) -> Mending:
        """As the settings say; ``reflow`` off switches all off."""
        if not settings.reflow:
            return cls(join_lines=False, drop_furniture=False, close_gaps=False)
        return cls(settings.join_lines, settings.drop_furniture, settings.close_gaps)


def draft_of(found: PdfPages, mending: Mending) -> Draft:
    """Blocks of the pages."""
    pages = found.pages
    if mending.close_gaps:
        close = close_all_gaps if found.is_ocr else close_gaps
        pages = [[replace(line, text=close(line.text)) for line in page] for page in pages]
    if mending.drop_furniture:
        pages = drop_furniture(pages)
    paragraphs = reflow(pages) if mending.join_lines else as_laid_out(pages)
    return Draft([_block(paragraph, found.outline) for paragraph in paragraphs], [None] * len(pages))


def _lines(page: Any) -> list[Line]:
    lines: list[Line] = []
    is_blank = True
    for element in page.iter("{*}p", "{*}div"):
        is_text = name_of(element) == "p" or element.get("class") == "ocr"
        if element is page or not is_text or _is_annotation(element):
            continue
        texts = unify_glyphs("".join(element.itertext())).rstrip().split("\n")
        is_gap = True
        for text in texts:
            if not text.strip():
                is_blank = True
                continue
            lines.append(Line(text.rstrip(), after_gap=is_gap, after_blank=is_blank and bool(lines)))
            is_gap = is_blank = False
    return lines


def _is_annotation(element: Any) -> bool:
    return any(parent.get("class") == "annotation" for parent in (element, *element.iterancestors()))


def _outline(element: Any, level: int, found: dict[str, int]) -> None:
    for child in element:
        if name_of(child) == "ul":
            _outline(child, min(level + 1, 6), found)
        else:
            found.setdefault("".join("".join(child.itertext()).split()), level)


def _block(paragraph: Paragraph, outline: dict[str, int]) -> DraftBlock:
    page = paragraph.page_starts[0][1]
    starts = tuple(paragraph.page_starts[1:])
    level = outline.get("".join(paragraph.text.split()))
    if level is not None and "\n" not in paragraph.text:
        return DraftBlock(BlockType.HEADING, paragraph.text, level, page=page)
    if bullet := _BULLET.match(paragraph.text):
        text = paragraph.text[bullet.end() :]
        starts = tuple((offset - bullet.end(), number) for offset, number in starts)
        return DraftBlock(BlockType.LIST_ITEM, text, 0, "-", page=page, page_starts=starts)
    return DraftBlock(BlockType.PARAGRAPH, paragraph.text, page=page, page_starts=starts)
