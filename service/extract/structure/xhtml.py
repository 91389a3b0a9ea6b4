"""XHTML, of Tika or of a web page, → draft blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from service.extract.ooxml.marks import read_mark, without_marks
from service.extract.structure.draft import Draft, DraftBlock
from service.extract.structure.elements import grid_of, is_regular_table, language_of, rows_of, start_of
from service.extract.structure.headings import promote_bold, promote_slide_titles
from service.extract.structure.inline import fold, is_skipped, name_of, pieces, text_of
from service.extract.structure.lists import StyleList, heading_level, is_quote
from service.extract.structure.markup import body_of
from service.extract.structure.table import blocks_of_rows
from service.types import BlockType

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CONTAINERS = frozenset(
    {"body", "div", "section", "article", "main", "header", "footer", "nav", "aside", "figure", "figcaption"}
    | {"center", "form", "fieldset", "details", "summary", "address", "hgroup", "dl", "dd", "dt", "html"}
    | {"tbody", "thead", "tfoot"}
)
_BLOCKS = _CONTAINERS | set(_HEADINGS) | {"p", "ul", "ol", "table", "pre", "blockquote", "li", "hr", "tr", "td", "th"}
_DEEPEST = 150
"""Elements nested deeper than this are read as plain text, so that a nesting bomb cannot exhaust the stack."""
_LONGEST_LONE_CELL = 200
_PACKAGE_CLASSES = frozenset({"package-entry", "email-entry"})


@dataclass(frozen=True, slots=True)
class Profile:
    """How the XHTML of a format is to be read.

    ``page_classes`` are the ``div`` classes that start a page, slide or sheet; ``label_from_heading`` takes the
    first heading of a page as its label, ``heading_from_text`` makes a heading of a slide's first short line,
    ``heading_from_bold`` makes headings of short bold paragraphs in a file without any heading.
    """

    keep_line_ends: bool = True
    page_classes: frozenset[str] = frozenset()
    label_from_heading: bool = False
    heading_from_text: bool = False
    heading_from_bold: bool = False
    max_depth: int = 8


def read_xhtml(root: Any, profile: Profile) -> Draft:
    """Blocks and pages of the body, in reading order."""
    reader = _Reader(profile)
    reader.container(body_of(root), 0)
    if profile.heading_from_text:
        promote_slide_titles(reader.draft)
    if profile.heading_from_bold:
        promote_bold(reader.draft, reader.bold)
    return reader.draft


@dataclass(slots=True)
class _Reader:
    profile: Profile
    draft: Draft = field(default_factory=Draft)
    list_level: int = -1
    package_depth: int = 0
    page: int | None = None
    in_page: bool = False
    style_list: StyleList = field(default_factory=StyleList)
    footnotes: int = 0
    bold: list[DraftBlock] = field(default_factory=list)

    def add(self, block_type: BlockType, text: str, *, level: int = 0, marker: str = "") -> None:
        if marked := read_mark(text):
            if marked.type is None:
                return
            block_type, level, marker, text = marked.type, marked.level, marked.marker, marked.text
        block = DraftBlock(block_type, without_marks(text), level, marker, page=self.page)
        if not block.is_empty:
            self.draft.blocks.append(block)

    def container(self, element: Any, depth: int) -> None:
        """Blocks inside an element; text that stands loose between blocks becomes paragraphs."""
        if depth > _DEEPEST:
            self.add(BlockType.PARAGRAPH, self.text(element))
            return
        loose: list[str] = [element.text or ""]
        for child in element:
            if not self._is_block(child):
                loose.extend(pieces(child))
            else:
                self._flush(loose)
                self.block(child, depth + 1)
            loose.append(child.tail or "")
        self._flush(loose)

    def _flush(self, loose: list[str]) -> None:
        self.add(BlockType.PARAGRAPH, fold("".join(loose), keep_line_ends=self.profile.keep_line_ends))
        loose.clear()

    def _is_block(self, element: Any) -> bool:
        if name_of(element) in _BLOCKS:
            return True
        return not is_skipped(element) and any(name_of(child) in _BLOCKS for child in element.iterdescendants())

    def block(self, element: Any, depth: int) -> None:
        """One block element."""
        name = name_of(element)
        if level := _HEADINGS.get(name):
            self.add(BlockType.HEADING, self.text(element), level=level)
        elif reader := _READERS.get(name):
            reader(self, element, depth)
        elif name == "div":
            self._div(element, depth)
        elif name == "nav" and "toc" in {element.get("type"), element.get("{http://www.idpf.org/2007/ops}type")}:
            return  # the table of contents of an e-book repeats its headings
        else:
            self.container(element, depth)

    def text(self, element: Any) -> str:
        return text_of(element, keep_line_ends=self.profile.keep_line_ends)

    def _div(self, element: Any, depth: int) -> None:
        style = element.get("class") or ""
        if style in self.profile.page_classes and self.package_depth == 0 and not self.in_page:
            self._page(element, depth)
        elif style in self.profile.page_classes:
            self.container(element, depth)
        elif style in _PACKAGE_CLASSES:
            self._package(element, depth)
        elif style in {"footnote", "endnote"}:
            self._footnote(element)
        elif style in {"notes", "notes-content", "slide-notes", "slide-notes-content"}:
            self.add(BlockType.QUOTE, self.text(element))
        else:
            self.container(element, depth)

    def _page(self, element: Any, depth: int) -> None:
        self.page = len(self.draft.page_labels)
        self.draft.page_labels.append(None)
        first = len(self.draft.blocks)
        self.in_page = True
        self.container(element, depth)
        self.in_page = False
        if self.profile.label_from_heading and len(self.draft.blocks) > first:
            heading = self.draft.blocks[first]
            if heading.type is BlockType.HEADING:
                self.draft.page_labels[self.page] = heading.text
                if len(self.draft.blocks) == first + 1:
                    del self.draft.blocks[first]

    def _package(self, element: Any, depth: int) -> None:
        if self.package_depth >= self.profile.max_depth:
            self.draft.omitted_depth += 1
            return
        first = len(self.draft.blocks)
        self.package_depth += 1
        self.container(element, depth)
        self.package_depth -= 1
        has_body = any(block.type is not BlockType.HEADING for block in self.draft.blocks[first:])
        if not has_body:
            del self.draft.blocks[first:]

    def paragraph(self, element: Any, depth: int) -> None:
        style = element.get("class") or ""
        notes = [child for child in element.iterchildren("{*}div") if child.get("class") in {"footnote", "endnote"}]
        if notes:
            self._paragraph_with_notes(element, notes)
        elif any(name_of(child) in _BLOCKS for child in element.iterdescendants()):
            self.container(element, depth)
        elif level := heading_level(style):
            self.add(BlockType.HEADING, self.text(element), level=level)
        elif item := self.style_list.item(style):
            self.add(BlockType.LIST_ITEM, self.text(element), level=item[0], marker=item[1])
        else:
            count = len(self.draft.blocks)
            self.add(BlockType.QUOTE if is_quote(style) else BlockType.PARAGRAPH, self.text(element))
            if _is_all_bold(element) and len(self.draft.blocks) > count:
                self.bold.append(self.draft.blocks[-1])

    def _paragraph_with_notes(self, element: Any, notes: list[Any]) -> None:
        bodies: list[tuple[str, str]] = []
        for note in notes:
            self.footnotes += 1
            bodies.append((str(self.footnotes), self.text(note)))
            mark = etree.Element("span")
            mark.text = f"[^{self.footnotes}]"
            mark.tail = (note.tail or "").removeprefix("\n")
            element.replace(note, mark)
        self.add(BlockType.PARAGRAPH, self.text(element))
        for label, body in bodies:
            self.add(BlockType.FOOTNOTE, body, marker=label)

    def _footnote(self, element: Any) -> None:
        self.footnotes += 1
        self.add(BlockType.FOOTNOTE, self.text(element), marker=str(self.footnotes))

    def items(self, element: Any, depth: int) -> None:
        """Items of ``ul`` or ``ol``; an item's own blocks follow it at the next level."""
        is_ordered = name_of(element) == "ol"
        number = start_of(element)
        self.list_level += 1
        self._loose_text(element.text)
        for child in element:
            if name_of(child) == "li":
                self._item(child, f"{number}." if is_ordered else "-", depth)
                number += 1
            elif not is_skipped(child):
                self._loose_child(child, depth)
            self._loose_text(child.tail)
        self.list_level -= 1

    def _loose_text(self, text: str | None) -> None:
        self.add(BlockType.PARAGRAPH, fold(text or "", keep_line_ends=self.profile.keep_line_ends))

    def _loose_child(self, child: Any, depth: int) -> None:
        if self._is_block(child):
            self.block(child, depth + 1)
        else:
            self.add(BlockType.PARAGRAPH, self.text(child))

    def _item(self, element: Any, marker: str, depth: int) -> None:
        """Text and plain paragraphs up to the first list, table or other block are the item; the rest follows it."""
        lead: list[str] = [element.text or ""]
        rest: list[Any] = []
        for child in element:
            if not rest and (not self._is_block(child) or self._is_plain_paragraph(child)):
                lead.extend(pieces(child))
                lead.append(child.tail or "")
            else:
                rest.append(child)
        text = fold("".join(lead), keep_line_ends=self.profile.keep_line_ends)
        self.add(BlockType.LIST_ITEM, text, level=max(self.list_level, 0), marker=marker)
        for child in rest:
            self.block(child, depth + 1)
            self._loose_text(child.tail)

    def _is_plain_paragraph(self, element: Any) -> bool:
        return name_of(element) == "p" and not any(self._is_block(child) for child in element)

    def table(self, element: Any, depth: int) -> None:
        """A table; one that holds another table, or text outside its cells, only lays out a page."""
        if not is_regular_table(element):
            self.container(element, depth)
            return
        caption = next((child for child in element if name_of(child) == "caption"), None)
        if caption is not None:
            self.add(BlockType.PARAGRAPH, self.text(caption))
        rows = grid_of(element, lambda cell: without_marks(self.text(cell)))
        is_layout = len(rows) == 1 and any(len(cell) > _LONGEST_LONE_CELL for cell in rows[0])
        if is_layout or max((len(row) for row in rows), default=0) == 1:
            for row in rows_of(element):
                for cell in row:
                    self.container(cell, depth + 1)
            return
        self.draft.blocks.extend(blocks_of_rows(rows, self.page))

    def code(self, element: Any, depth: int) -> None:
        text = "".join(pieces(element)).replace("\u2028", "\n").strip("\n")
        self.add(BlockType.CODE, text, marker=language_of(element))

    def quote(self, element: Any, depth: int) -> None:
        self.add(BlockType.QUOTE, self.text(element))

    def item_outside(self, element: Any, depth: int) -> None:
        self._item(element, "-", depth)

    def nothing(self, element: Any, depth: int) -> None:
        """A rule has no text."""


_READERS: dict[str, Callable[[_Reader, Any, int], None]] = {
    "p": _Reader.paragraph,
    "ul": _Reader.items,
    "ol": _Reader.items,
    "li": _Reader.item_outside,
    "table": _Reader.table,
    "pre": _Reader.code,
    "blockquote": _Reader.quote,
    "hr": _Reader.nothing,
}


def _is_all_bold(element: Any) -> bool:
    """True when all text of a paragraph is inside one ``b`` or ``strong``."""
    children = [child for child in element if "".join(child.itertext()).strip()]
    has_loose_text = bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)
    return len(children) == 1 and name_of(children[0]) in {"b", "strong"} and not has_loose_text
