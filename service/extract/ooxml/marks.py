"""Marks at the start of a paragraph, which pass through Tika as text and tell the XHTML reader what it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.types import BlockType

_OPEN, _CLOSE = "\uf8e0", "\uf8e1"
"""Private-use characters: XML and Tika keep them, and no writer uses this pair."""
_MARK = re.compile(f"^\\s*{_OPEN}([hlqpx])([0-9]):([^{_CLOSE}]{{0,40}}){_CLOSE}")
_ANY_MARK = re.compile(f"{_OPEN}[hlqpx][0-9]:([^{_CLOSE}]{{0,40}}){_CLOSE}")
_LETTERS = {
    BlockType.HEADING: "h",
    BlockType.LIST_ITEM: "l",
    BlockType.QUOTE: "q",
    BlockType.PARAGRAPH: "p",
}
_TYPES = {letter: block_type for block_type, letter in _LETTERS.items()}
DROPPED = "x"
"""Letter of a paragraph that is to be left out (an entry of a table of contents)."""
_MARKDOWN_MARKER = re.compile(r"^(?:-|\d{1,9}[.)])$")
_WIDE_END = re.compile(r"[、，。）】》：]$")


@dataclass(frozen=True, slots=True)
class Marked:
    """What a mark says; ``type`` is ``None`` for a paragraph to leave out."""

    type: BlockType | None
    level: int
    marker: str
    text: str


def mark(block_type: BlockType, level: int = 0, label: str = "") -> str:
    """Mark of a paragraph; ``label`` is its number or bullet."""
    return f"{_OPEN}{_LETTERS[block_type]}{min(level, 9)}:{label}{_CLOSE}"


def drop_mark() -> str:
    """Mark of a paragraph to leave out."""
    return f"{_OPEN}{DROPPED}0:{_CLOSE}"


def without_marks(text: str) -> str:
    """The text with every mark replaced by its label, for places where several paragraphs run together."""
    if _OPEN not in text:
        return text
    return _ANY_MARK.sub(lambda match: f"{match.group(1).strip()} " if match.group(1).strip("- ") else "", text)


def read_mark(text: str) -> Marked | None:
    """Take the mark off a text; a label that is no Markdown list marker becomes part of the text."""
    match = _MARK.match(text)
    if match is None:
        return None
    letter, level, label = match.group(1), int(match.group(2)), match.group(3).strip()
    rest = text[match.end() :].strip()
    if letter == DROPPED:
        return Marked(None, 0, "", rest)
    block_type = _TYPES[letter]
    if block_type is BlockType.LIST_ITEM and _MARKDOWN_MARKER.match(label):
        return Marked(block_type, level, label, rest)
    if label and rest:
        rest = f"{label}{'' if _WIDE_END.search(label) else ' '}{rest}"
    if block_type is BlockType.HEADING:
        level = min(max(level, 1), 6)
    return Marked(block_type, level, "-" if block_type is BlockType.LIST_ITEM else "", rest)
