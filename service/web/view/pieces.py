"""A text cut where marks begin and end, so that marks which overlap can be drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Mark[Tag]:
    """A span ``[start, end)`` of a text, in code points."""

    start: int
    end: int
    tag: Tag


@dataclass(frozen=True, slots=True)
class Piece[Tag]:
    """A stretch of the text that every mark covers wholly or not at all.

    ``tags`` are those that cover it and ``begins`` those of them that start here, in the order of the marks.
    """

    text: str
    start: int
    tags: tuple[Tag, ...]
    begins: tuple[Tag, ...]


def pieces[Tag](text: str, marks: Iterable[Mark[Tag]]) -> list[Piece[Tag]]:
    """Cut a text; the pieces joined are the text.

    Marks that leave the text are cut off at its ends, and empty ones are left out.
    """
    clipped = [(max(mark.start, 0), min(mark.end, len(text)), mark.tag) for mark in marks]
    inside = [(start, end, tag) for start, end, tag in clipped if start < end]
    opening: dict[int, list[int]] = {}
    closing: dict[int, list[int]] = {}
    for number, (start, end, _) in enumerate(inside):
        opening.setdefault(start, []).append(number)
        closing.setdefault(end, []).append(number)
    cuts = sorted({0, len(text), *opening, *closing})
    found: list[Piece[Tag]] = []
    active: set[int] = set()
    for at, until in pairwise(cuts):
        active.difference_update(closing.get(at, ()))
        begins = opening.get(at, [])
        active.update(begins)
        tags = tuple(inside[number][2] for number in sorted(active))
        found.append(Piece(text[at:until], at, tags, tuple(inside[number][2] for number in begins)))
    return found
