"""Text beside a gutter, wrapped as Chinese and Latin text together need it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_NARROWEST = 16
_NEVER_FIRST = frozenset("。，、；：？！）》」』】〉”’…,.;:?!)]}%")


def draw_indented(console: Console, text: Text, gutter: Text) -> None:
    """Draw text with ``gutter`` in front of every line; wrapped on a terminal, its own lines elsewhere."""
    _draw(console, text, gutter, gutter)


def draw_labelled(console: Console, text: Text, label: Text) -> None:
    """Draw text beside a label that stands in its first line only."""
    _draw(console, text, label, Text(" " * label.cell_len))


def _draw(console: Console, text: Text, first: Text, other: Text) -> None:
    width, gutter = max(_NARROWEST, console.width - first.cell_len), first
    for line in text.split("\n", allow_blank=True):
        for part in wrapped(line, width) if console.is_terminal else [line]:
            part.rstrip()
            console.print(Text.assemble(gutter, part), soft_wrap=True)
            gutter = other


def wrapped(line: Text, width: int) -> list[Text]:
    """One line in parts of at most ``width`` cells: a break may stand after a blank and beside any wide character,
    but not before a closing mark; a longer word is cut. (rich itself breaks at blanks only, which tears Chinese.)"""
    return list(line.divide(_breaks(line.plain, width)))


def _breaks(plain: str, width: int) -> Iterator[int]:
    """Offsets at which a new part begins."""
    start, cells, possible = 0, 0, 0
    for at, character in enumerate(plain):
        if at > start and _may_break(plain[at - 1], character):
            possible = at
        cells += cell_len(character)
        while cells > width and start < at and not character.isspace():
            start = possible if possible > start else at
            cells = cell_len(plain[start : at + 1])
            yield start


def _may_break(before: str, after: str) -> bool:
    if after in _NEVER_FIRST or after.isspace():
        return False
    return before.isspace() or cell_len(before) > 1 or cell_len(after) > 1
