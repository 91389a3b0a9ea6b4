"""Markdown as markdown-it-py sees it: blocks by lines, lines as offsets. Inline marks are parsed for titles only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from service.split.structure.headings import Heading
from service.split.structure.markdown.parser import BlockToken, inline_text, parse_blocks

_LINE_BREAK = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n(?=[\w\"'-]+[ \t]*[:=])(?:.*\r?\n){1,200}?(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)"
)
_INLINE_MARKS = re.compile(r"[*_`\[\]<>\\&~!]")
_WHOLE_LINES = frozenset({"fence", "code_block", "html_block", "table_open", "heading_open"})
WHOLE_BLOCKS = frozenset({"bullet_list_open", "ordered_list_open", "table_open", "fence", "code_block"})
"""Blocks that a lead-in line belongs to."""


class MarkdownBlocks:
    """The block tokens of one text, and their spans as code-point offsets.

    Attributes:
        body_start: end of the front matter, 0 without any.
        tokens: block tokens in order.
        headings: headings that are in no list or quote.
        whole_lines: spans where a line is one unit, whatever marks it holds: code, tables, headings, HTML, front
            matter.
        tables: start, start of the first data row, and end of every table.
        fences: spans of fenced code, the fence lines included.
    """

    def __init__(self, text: str, *, indented_code: bool = True) -> None:
        self._text = text
        front = _FRONT_MATTER.match(text)
        self.body_start = front.end() if front else 0
        body = text[self.body_start :]
        source = _LINE_BREAK.sub("\n", body) if "\r" in body else body
        self.tokens, self._line_starts = parse_blocks(source, indented_code=indented_code)
        if front or "\r" in body:
            line_breaks = _LINE_BREAK.finditer(text, self.body_start)
            self._line_starts = [self.body_start, *(found.end() for found in line_breaks), len(text)]
        self.headings: list[Heading] = []
        self.whole_lines: list[tuple[int, int]] = [front.span()] if front else []
        self.tables: list[tuple[int, int, int]] = []
        self.fences: list[tuple[int, int]] = []
        for index, token in enumerate(self.tokens):
            if token.type in _WHOLE_LINES:
                self._note(index, token)

    @cached_property
    def outer(self) -> list[int]:
        """Indices of the outermost blocks other than headings."""
        tokens = enumerate(self.tokens)
        return [index for index, token in tokens if token.level == 0 and token.type != "heading_open"]

    @cached_property
    def paragraphs(self) -> list[tuple[int, int]]:
        """Spans of the paragraphs that are in no list, table or quote."""
        return [self.span(index) for index in self.outer if self.tokens[index].type == "paragraph_open"]

    def span(self, index: int) -> tuple[int, int]:
        """Start and end of the lines of a block."""
        first, after = self.tokens[index].map or (0, 0)
        starts = self._line_starts
        return starts[first], starts[after] if after < len(starts) else len(self._text)

    def inner(self, index: int) -> Iterator[int]:
        """Indices of the blocks directly inside a block."""
        level = self.tokens[index].level + 1
        for position in range(index + 1, len(self.tokens)):
            if self.tokens[position].level < level:
                return
            if self.tokens[position].level == level:
                yield position

    def _note(self, index: int, token: BlockToken) -> None:
        start, end = span = self.span(index)
        self.whole_lines.append(span)
        if token.type == "heading_open" and token.level == 0 and token.inline:
            self.headings.append(Heading(start, end, int(token.tag[1]), _plain(token.inline.content)))
        elif token.type == "fence":
            self.fences.append(span)
        elif token.type == "table_open" and token.map:
            data = token.map[0] + 2
            self.tables.append((start, self._line_starts[data] if data < len(self._line_starts) else end, end))


def _plain(title: str) -> str:
    """The text of a heading without its inline marks."""
    return " ".join((inline_text(title) if _INLINE_MARKS.search(title) else title).split())
