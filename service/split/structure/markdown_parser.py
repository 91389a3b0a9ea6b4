"""markdown-it-py, told to find blocks only, with two rules of our own where its tokens cost more than the rest.

Both give the same blocks as the parser's rules: a paragraph without its closing and inline tokens, a table without its
cells. Link definitions count as paragraphs: they are text that somebody may search for.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import table as find_table
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.token import Token

# What no other block than a paragraph begins with, and what a list item begins with.
_PARAGRAPH_START = re.compile(r"[^\s#>+\-*0-9|`~<=_]|`(?!``)|\*\*[^*\s]|[0-9]{1,9}[^\d.)\s]")
_LIST_ITEM = re.compile(r"[-+*] [^-+*\s]")
_CODE_INDENT = 4


@cache
def block_parser(indented_code: bool) -> MarkdownIt:
    """CommonMark with tables; ``indented_code`` is off for plain text, which is often indented."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "plain_paragraphs", _plain_paragraphs)
    return parser if indented_code else parser.disable("code")


def parse_blocks(source: str, *, indented_code: bool) -> tuple[list[Token], list[int]]:
    """Block tokens of a text whose line breaks are ``\\n``.

    Returns:
        The tokens, and the start of every line (and the end of the text) as offsets.
    """
    parser = block_parser(indented_code)
    tokens: list[Token] = []
    state = StateBlock(source, parser, {}, tokens)
    line_starts = list(state.bMarks)
    parser.block.tokenize(state, 0, state.lineMax)
    return tokens, line_starts


def inline_text(content: str) -> str:
    """The text of a line without its inline marks."""
    children = block_parser(True).parseInline(content)[0].children or []
    return "".join(" " if token.type.endswith("break") else token.content for token in children)


def _plain_paragraphs(state: StateBlock, first: int, after: int, silent: bool) -> bool:
    """Take paragraphs of one plain line: the commonest block by far, for which eleven rules would be tried."""
    if not _is_plain_paragraph(state, first, after):
        return False
    line = first
    while not silent:
        token = state.push("paragraph_open", "p", 0)
        token.map = [line, line + 1]
        state.line = line + 1
        line = state.skipEmptyLines(line + 1)
        if line >= after or state.sCount[line] < state.blkIndent or not _is_plain_paragraph(state, line, after):
            break
    return True


def _is_plain_paragraph(state: StateBlock, line: int, after: int) -> bool:
    if state.sCount[line] - state.blkIndent >= _CODE_INDENT:
        return False
    if not _PARAGRAPH_START.match(state.src, state.bMarks[line] + state.tShift[line]):
        return False
    return line + 1 >= after or state.isEmpty(line + 1) or _begins_item(state, line + 1)


def _begins_item(state: StateBlock, line: int) -> bool:
    """Whether the line certainly begins a list item that ends the paragraph before it."""
    indent = state.sCount[line]
    if not 0 <= indent < state.blkIndent + _CODE_INDENT:
        return False
    if indent < state.blkIndent and indent - state.listIndent >= _CODE_INDENT:
        return False
    return _LIST_ITEM.match(state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line]) is not None


def _table(state: StateBlock, first: int, after: int, silent: bool) -> bool:
    if not find_table(state, first, after, True):
        return False
    if silent:
        return True
    outer_type, state.parentType = state.parentType, "table"
    terminators = state.md.block.ruler.getRules("blockquote")
    line = first + 2
    while line < after and state.sCount[line] >= state.blkIndent and not _is_blank(state, line):
        if state.is_code_block(line) or any(rule(state, line, after, True) for rule in terminators):
            break
        line += 1
    token = state.push("table_open", "table", 0)
    token.map = [first, line]
    state.parentType = outer_type
    state.line = line
    return True


def _is_blank(state: StateBlock, line: int) -> bool:
    return not mdTrim(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
