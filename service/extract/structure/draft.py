"""Draft blocks: what a reader of a format found, before it becomes one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from service.types import BlockType


@dataclass(slots=True)
class DraftBlock:
    """One block on its way to the text.

    ``level`` as in :class:`service.types.Block`. ``marker`` is the list marker (``-``, ``3.``), the language of
    a code block or the label of a footnote. ``rows`` holds the cells of a table and leaves ``text`` empty.
    ``page`` is the index of its page in the draft, from 0.
    """

    type: BlockType
    text: str = ""
    level: int = 0
    marker: str = ""
    rows: Sequence[Sequence[str]] = ()
    page: int | None = None
    page_starts: Sequence[tuple[int, int]] = ()
    """(Offset in ``text``, page index) for every further page that the block reaches into."""

    is_verbatim: bool = False
    """``text`` is Markdown already and is written as it stands."""

    @property
    def is_empty(self) -> bool:
        """True when nothing of it would be seen."""
        if self.type is BlockType.TABLE and not self.is_verbatim:
            return not any(cell.strip() for row in self.rows for cell in row)
        return not self.text.strip()


@dataclass(slots=True)
class Draft:
    """Blocks in reading order; ``page_labels`` has one entry per page, slide or sheet (empty: no pages)."""

    blocks: list[DraftBlock] = field(default_factory=list)
    page_labels: list[str | None] = field(default_factory=list)
    omitted_depth: int = 0
    """How many embedded documents were left out because they were nested too deep."""
