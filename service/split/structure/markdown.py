"""Markdown as markdown-it-py sees it: blocks by lines, lines as offsets. Inline marks are parsed for titles only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.token import Token

_LINE_BREAK = re.compile(r"\r\n?|\n")
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n(?=[\w\"'-]+[ \t]*[:=])(?:.*\r?\n){1,200}?(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)"
)
_INLINE_MARKS = re.compile(r"[*_`\[\]<>\\&~!]")
# What no other block than a paragraph begins with.
_PARAGRAPH_START = re.compile(r"[^\s#>+\-*0-9|`~<=_]|`(?!``)|\*\*[^*\s]|[0-9]{1,9}[^\d.)\s]")
_LIST_ITEM = re.compile(r"[-+*] [^-+*\s]")
_WHOLE_LINES = frozenset({"fence", "code_block", "html_block", "table_open", "heading_open"})
WHOLE_BLOCKS = frozenset({"bullet_list_open", "ordered_list_open", "table_open", "fence", "code_block"})
"""Blocks that a lead-in line belongs to."""


class MarkdownBlocks:
    """The block tokens of one text, with their spans as code-point offsets."""

    def __init__(self, text: str, *, indented_code: bool = True) -> None:
        self.text = text
        front = _FRONT_MATTER.match(text)
        self.front_matter_end = front.end() if front else 0
        self.tokens: list[Token] = []
        parser = _parser(indented_code)
        source = text[self.front_matter_end :].replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        parser.block.parse(source, parser, {}, self.tokens)
        body = _LINE_BREAK.finditer(text, self.front_matter_end)
        self._line_starts = [self.front_matter_end, *(line_break.end() for line_break in body)]

    def span(self, token: Token) -> tuple[int, int]:
        """Start and end of the lines of a block."""
        first, after = token.map or (0, 0)
        starts = self._line_starts
        return starts[first], starts[after] if after < len(starts) else len(self.text)

    def children(self, index: int | None) -> Iterator[int]:
        """Indices of the blocks directly inside a block, or of the outermost ones."""
        if index is None:
            level, position = 0, 0
        else:
            level, position = self.tokens[index].level + 1, index + 1
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.level < level:
                return
            if token.level == level and token.map is not None and token.nesting >= 0 and token.type != "inline":
                yield position
            position += 1

    def headings(self) -> Iterator[tuple[int, int, int, str]]:
        """Start, end, level (1 to 6) and title of every heading that is in no list or quote."""
        for index, token in enumerate(self.tokens):
            if token.type == "heading_open" and token.level == 0:
                start, end = self.span(token)
                yield start, end, int(token.tag[1]), _plain_title(self.tokens[index + 1].content)

    def whole_line_regions(self) -> list[tuple[int, int]]:
        """Spans where a line is one unit, whatever marks it holds: code, tables, headings, HTML, front matter."""
        regions = [self.span(token) for token in self.tokens if token.type in _WHOLE_LINES]
        return [(0, self.front_matter_end), *regions] if self.front_matter_end else regions

    def fences(self) -> Iterator[tuple[int, int]]:
        """Spans of fenced code, the fence lines included."""
        return (self.span(token) for token in self.tokens if token.type == "fence")

    def paragraphs(self) -> list[tuple[int, int]]:
        """Spans of the paragraphs that are in no list, table or quote."""
        return [self.span(token) for token in self.tokens if token.type == "paragraph_open" and token.level == 0]

    def tables(self) -> list[tuple[int, int, int]]:
        """Start, start of the first data row, and end of every table."""
        found: list[tuple[int, int, int]] = []
        for token in self.tokens:
            if token.type == "table_open" and token.map:
                start, end = self.span(token)
                data = token.map[0] + 2
                found.append((start, self._line_starts[data] if data < len(self._line_starts) else end, end))
        return found


def _plain_title(content: str) -> str:
    """The text of a heading without its inline marks."""
    if _INLINE_MARKS.search(content):
        inline = _parser(True).parseInline(content)[0].children or []
        content = "".join(" " if token.type.endswith("break") else token.content for token in inline)
    return " ".join(content.split())


@cache
def _parser(indented_code: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.block.ruler.before("table", "plain_paragraph", _plain_paragraph)
    return parser if indented_code else parser.disable("code")


def _plain_paragraph(state: StateBlock, first: int, after: int, silent: bool) -> bool:
    """Take a paragraph of one plain line at once: the commonest block by far, for which eleven rules would be tried.

    It gives the same tokens as the parser's own rule; anything doubtful is left to the other rules.
    """
    position = state.bMarks[first] + state.tShift[first]
    if state.sCount[first] - state.blkIndent > 3 or not _PARAGRAPH_START.match(state.src, position):
        return False
    following = first + 1
    if following < after and not state.isEmpty(following) and not _interrupts(state, following):
        return False
    if not silent:
        state.line = following
        token = state.push("paragraph_open", "p", 1)
        token.map = [first, following]
        state.push("paragraph_close", "p", -1)
    return True


def _interrupts(state: StateBlock, line: int) -> bool:
    """Whether the line certainly begins a list item that ends the paragraph before it."""
    indent = state.sCount[line]
    if not 0 <= indent <= state.blkIndent + 3 or (indent < state.blkIndent and indent - state.listIndent >= 4):
        return False
    return _LIST_ITEM.match(state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line]) is not None
