"""Headings that a file shows only by the look of its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.extract.structure.draft import Draft, DraftBlock
from service.types import BlockType

_LONGEST = 60
_LARGEST_SHARE = 0.4
_SENTENCE_END = re.compile(r"[。！？；，、,;!?]$")


def promote_bold(draft: Draft, bold: Sequence[DraftBlock]) -> None:
    """Short bold paragraphs become headings of level 2, the one that opens the file of level 1.

    Only in a file without headings, and only when bold is the exception.
    """
    candidates = [
        block
        for block in bold
        if block.type is BlockType.PARAGRAPH and _is_short(block.text) and not _SENTENCE_END.search(block.text)
    ]
    has_headings = any(block.type is BlockType.HEADING for block in draft.blocks)
    if has_headings or len(candidates) > _LARGEST_SHARE * len(draft.blocks):
        return
    for block in candidates:
        block.type, block.level = BlockType.HEADING, 1 if block is draft.blocks[0] else 2


def promote_slide_titles(draft: Draft) -> None:
    """The first short one-line paragraph of a slide is its title."""
    seen: set[int] = set()
    for block in draft.blocks:
        if block.page is None or block.page in seen:
            continue
        seen.add(block.page)
        if block.type is BlockType.HEADING:
            draft.page_labels[block.page] = block.text
        elif block.type is BlockType.PARAGRAPH and _is_short(block.text):
            block.type, block.level = BlockType.HEADING, 2
            draft.page_labels[block.page] = block.text


def _is_short(text: str) -> bool:
    return "\n" not in text and len(text) <= _LONGEST
