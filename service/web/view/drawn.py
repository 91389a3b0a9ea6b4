"""A part of a document with its chunks drawn over it, and the places where its pages begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.store.chunk_reader import StoredChild, StoredParent, Stretch
from service.web.view.pieces import Mark, Piece, pieces


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page, slide or sheet as a span ``[start, end)`` of the document's text, in code points."""

    number: int
    start: int
    end: int
    label: str | None


@dataclass(frozen=True, slots=True)
class DrawnPiece:
    """A stretch of a parent with the ``children`` that cover it, and what begins at its start."""

    text: str
    start: int
    children: Sequence[StoredChild]
    begins: Sequence[StoredChild]
    pages: Sequence[TextPage]


@dataclass(frozen=True, slots=True)
class DrawnParent:
    """A parent chunk, cut where its children and pages begin and end.

    ``before`` is text of the document between the last parent and this one that belongs to neither; ``repeated`` how
    many characters at its start the last parent has as well.
    """

    parent: StoredParent
    parts: Sequence[DrawnPiece]
    before: str
    repeated: int


def drawn(stretch: Stretch, pages: Sequence[TextPage]) -> list[DrawnParent]:
    """The parents of a stretch, in order; each of the ``pages`` is told once, where it begins."""
    children: dict[int, list[StoredChild]] = {}
    for child in stretch.children:
        children.setdefault(child.parent_ordinal, []).append(child)
    found: list[DrawnParent] = []
    reached = stretch.reached
    for parent in stretch.parents:
        new_pages = [page for page in pages if page.start >= reached]
        inside: list[StoredChild | TextPage] = [*children.get(parent.ordinal, []), *new_pages]
        marks = [Mark(each.start - parent.start, each.end - parent.start, each) for each in inside]
        before = stretch.text[reached - stretch.start : max(parent.start, reached) - stretch.start]
        repeated = min(max(reached - parent.start, 0), parent.end - parent.start)
        parts = [_drawn_piece(piece) for piece in pieces(parent.content, marks)]
        found.append(DrawnParent(parent, parts, before.strip(), repeated))
        reached = max(reached, parent.end)
    return found


def _drawn_piece(piece: Piece[StoredChild | TextPage]) -> DrawnPiece:
    return DrawnPiece(
        piece.text,
        piece.start,
        [each for each in piece.tags if isinstance(each, StoredChild)],
        [each for each in piece.begins if isinstance(each, StoredChild)],
        [each for each in piece.begins if isinstance(each, TextPage)],
    )


_ENDS, _AROUND = 1, 2


def page_chips(count: int, current: int) -> list[int | None]:
    """The pages to offer: both ends and those around the current one; None stands for pages left out."""
    near = range(current - _AROUND, current + _AROUND + 1)
    offered = [
        page for page in range(1, count + 1) if page <= _ENDS or page > count - _ENDS or page in near or count <= 12
    ]
    chips: list[int | None] = []
    for page in offered:
        last = chips[-1] if chips else page - 1
        if last is not None and page > last + 1:
            chips.append(None)
        chips.append(page)
    return chips
