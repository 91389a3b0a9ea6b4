"""The line that says where a text stands: as embedding models and rerankers read it above the text."""

from __future__ import annotations

from collections.abc import Sequence


def heading_line(title: str | None, heading_path: Sequence[str]) -> str:
    """Title and headings from the outermost to the innermost, each named once; empty when there are none.

    A document's first heading usually is its title.
    """
    return " > ".join(dict.fromkeys(part for part in (title, *heading_path) if part))
