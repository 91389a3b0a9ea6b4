"""Rules for markdown-it-py that take the commonest blocks at once: plain paragraphs, plain lists, and whole tables.

The parser tries eleven rules for every block and makes tokens for every cell. These rules give the same blocks (a test
compares them with the parser's own), only without the tokens for inline text and cells, and leave anything doubtful to
the parser's rules. Together they make the structure strategy twice as fast on a product manual.
"""

from __future__ import annotations

import re

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import table as find_table
from markdown_it.rules_block.state_block import StateBlock

# What no other block than a paragraph begins with.
_PARAGRAPH_START = r"(?:[^\s#>+\-*0-9|`~<=_]|`(?!``)|\*\*[^*\s]|[0-9]{1,9}[^\d.)\s])"
_PLAIN = re.compile(_PARAGRAPH_START)
_LIST_ITEM = re.compile(r"[-+*] [^-+*\s]")
_PLAIN_ITEM = re.compile(rf"(?:([-+*])|[0-9]{{1,9}}([.)])) {_PARAGRAPH_START}")
_ANY_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?:\s|\Z)")
_CODE_INDENT = 4


def plain_paragraphs(state: StateBlock, first: int, after: int, silent: bool) -> bool:
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
    if not _PLAIN.match(state.src, state.bMarks[line] + state.tShift[line]):
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


def whole_table(state: StateBlock, first: int, after: int, silent: bool) -> bool:
    """Take a table as one block; where it begins is the parser's own judgement."""
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


def plain_list(state: StateBlock, first: int, after: int, silent: bool) -> bool:
    """Take a list whose items are one plain line each, blank lines between them or not."""
    indent = state.sCount[first]
    found = _plain_item(state, first)
    if (
        silent
        or not found
        or indent - state.blkIndent >= _CODE_INDENT
        or state.level + 2 >= state.md.options.maxNesting
    ):
        return False
    lines = [first]
    while True:
        following = min(state.skipEmptyLines(lines[-1] + 1), after)
        if following == after:
            break
        item = _plain_item(state, following) if state.sCount[following] == indent else None
        if item and item.groups() == found.groups():
            lines.append(following)
        elif _ends_list(state, lines[-1], following, indent):
            break
        else:
            return False
    kind = "bullet" if found[1] else "ordered"
    state.push(f"{kind}_list_open", "", 1).map = [first, following]
    for line, end in zip(lines, [*lines[1:], following], strict=True):
        state.push("list_item_open", "li", 1).map = [line, end]
        state.push("paragraph_open", "p", 0).map = [line, line + 1]
        state.push("list_item_close", "li", -1)
    state.push(f"{kind}_list_close", "", -1)
    state.line = following
    return True


def _plain_item(state: StateBlock, line: int) -> re.Match[str] | None:
    return _PLAIN_ITEM.match(state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line])


def _ends_list(state: StateBlock, last: int, line: int, indent: int) -> bool:
    """Whether a line that is no further item of the list certainly is in no item of it either."""
    start = state.bMarks[line] + state.tShift[line]
    if line == last + 1:  # directly below an item: only an item of the list around this one surely ends it
        return 0 <= state.sCount[line] < state.blkIndent and bool(
            _LIST_ITEM.match(state.src, start, state.eMarks[line])
        )
    return 0 <= state.sCount[line] <= indent and not _ANY_ITEM.match(state.src, start, state.eMarks[line])
