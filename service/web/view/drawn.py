"""A part of a document with its chunks drawn over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.store.chunk_reader import StoredChild, StoredParent, Stretch
from service.web.view.pieces import Mark, Piece, pieces


@dataclass(frozen=True, slots=True)
class DrawnParent:
    """A parent chunk, cut where its children begin and end.

    ``before`` is text of the document between the last parent and this one that belongs to neither; ``repeated`` how
    many characters at its start the last parent has as well.
    """

    parent: StoredParent
    parts: Sequence[Piece[StoredChild]]
    before: str
    repeated: int


def drawn(stretch: Stretch) -> list[DrawnParent]:
    """The parents of a stretch, in order."""
    children: dict[int, list[StoredChild]] = {}
    for child in stretch.children:
        children.setdefault(child.parent_ordinal, []).append(child)
    found: list[DrawnParent] = []
    reached = stretch.reached
    for parent in stretch.parents:
        marks = [
            Mark(child.start - parent.start, child.end - parent.start, child)
            for child in children.get(parent.ordinal, [])
        ]
        before = stretch.text[reached - stretch.start : max(parent.start, reached) - stretch.start]
        repeated = min(max(reached - parent.start, 0), parent.end - parent.start)
        found.append(DrawnParent(parent, pieces(parent.content, marks), before.strip(), repeated))
        reached = max(reached, parent.end)
    return found
