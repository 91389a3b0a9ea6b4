"""Draft blocks → one Markdown text with the exact span of every block and page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.extract.structure.draft import Draft, DraftBlock
from service.extract.structure.table import table_lines
from service.types import Block, BlockType, Page

# What would turn a line of plain prose into a heading, a fence or an underlined heading.
_ACCIDENTAL_MARK = re.compile(
    r"^([ ]{0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?=#{1,6}(?:\s|$)|`{3}|~{3}|=+\s*$|-+\s*$|>)", re.MULTILINE
)
_FENCE_RUN = re.compile(r"^\s*(`{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text, its blocks and its pages; spans count code points and are half open."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...]


def render(draft: Draft) -> Rendered:
    """Write the draft as Markdown. Blocks are parted by a blank line, items of one list by a line end."""
    writer = _Writer()
    for block in draft.blocks:
        if not block.is_empty:
            writer.write(block)
    text = "".join(writer.parts)
    return Rendered(text, tuple(writer.blocks), _pages(draft.page_labels, writer.page_spans))


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.blocks: list[Block] = []
        self.page_spans: dict[int, tuple[int, int]] = {}
        self._length = 0
        self._previous: DraftBlock | None = None
        self._items_above: list[tuple[int, int]] = []
        """(Level, column of the text) of the items that the next one may belong to."""

    def write(self, block: DraftBlock) -> None:
        self._separate(block)
        if block.type is not BlockType.LIST_ITEM:
            self._items_above.clear()
        start = self._length
        self._append(self._lines_of(block))
        page = None if block.page is None else block.page + 1
        self.blocks.append(Block(block.type, block.level, start, self._length, page))
        self._note_pages(block, start)
        self._previous = block

    def _note_pages(self, block: DraftBlock, start: int) -> None:
        if block.page is None:
            return
        starts = [start, *(min(start + offset, self._length) for offset, _ in block.page_starts), self._length]
        numbers = [block.page, *(number for _, number in block.page_starts)]
        for number, first, last in zip(numbers, starts, starts[1:], strict=False):
            known = self.page_spans.get(number)
            self.page_spans[number] = (known[0] if known else first, last)

    def _separate(self, block: DraftBlock) -> None:
        previous = self._previous
        if previous is None:
            return
        same_list = previous.type is block.type is BlockType.LIST_ITEM and previous.page == block.page
        self._append("\n" if same_list else "\n\n")

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)

    def _lines_of(self, block: DraftBlock) -> str:  # noqa: PLR0911  one answer a type
        if block.is_verbatim:
            return block.text.strip("\n")
        match block.type:
            case BlockType.HEADING:
                return "#" * block.level + " " + " ".join(block.text.split())
            case BlockType.LIST_ITEM:
                return self._item(block)
            case BlockType.TABLE:
                return "\n".join(table_lines(block.rows))
            case BlockType.CODE:
                return _fenced(block)
            case BlockType.QUOTE:
                return "\n".join(f"> {line}".rstrip() for line in _prose(block).split("\n"))
            case BlockType.FOOTNOTE:
                return f"[^{block.marker}]: " + "\n    ".join(_prose(block).split("\n"))
            case BlockType.PARAGRAPH:
                return _prose(block)

    def _item(self, block: DraftBlock) -> str:
        """A nested item starts in the column where the text of the item above it starts."""
        while self._items_above and self._items_above[-1][0] >= block.level:
            self._items_above.pop()
        indent = self._items_above[-1][1] if self._items_above else 0
        column = indent + len(block.marker) + 1
        self._items_above.append((block.level, column))
        lines = _prose(block).split("\n")
        return " " * indent + f"{block.marker} " + ("\n" + " " * column).join(lines)


def _prose(block: DraftBlock) -> str:
    return _ACCIDENTAL_MARK.sub(r"\1\\", block.text.strip())


def _fenced(block: DraftBlock) -> str:
    longest = max((len(run) for run in _FENCE_RUN.findall(block.text)), default=2)
    fence = "`" * max(3, longest + 1)
    body = block.text.strip("\n")
    return f"{fence}{block.marker}\n{body}\n{fence}"


def _pages(labels: Sequence[str | None], spans: Mapping[int, tuple[int, int]]) -> tuple[Page, ...]:
    """Every page has a span; an empty page has no length and sits where the page before it ends."""
    pages: list[Page] = []
    position = 0
    for index, label in enumerate(labels):
        start, end = spans.get(index, (position, position))
        pages.append(Page(index + 1, start, end, label))
        position = end
    return tuple(pages)
