"""What structure a text has: its headings, and its blocks where it is Markdown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from service.split.structure.headings import Heading, merge_headings
from service.split.structure.legal import LegalLabel, legal_labels
from service.split.structure.markdown import MarkdownBlocks
from service.types import ExtractedText, TextFormat

# One line that looks like an article is chance, two are a law.
_ENOUGH_LABELS = 2


@dataclass(frozen=True, slots=True)
class Outline:
    """Headings in order; ``blocks`` is None for plain text, whose blocks are its lines."""

    headings: list[Heading]
    blocks: MarkdownBlocks | None


def find_outline(document: ExtractedText, *, required: bool) -> Outline | None:
    """The outline of a document, or None when it has no headings and none is required.

    Plain text has the headings of a legal text or none; when structure is required, it is read like Markdown.
    """
    text = document.text
    labels = list(legal_labels(text))
    if document.format is TextFormat.PLAIN:
        headings, legal_count = merge_headings(text, (), labels)
        if legal_count >= _ENOUGH_LABELS:
            return Outline(headings, None)
        if not required:
            return None
    blocks = MarkdownBlocks(text, indented_code=document.format is TextFormat.MARKDOWN)
    headings, legal_count = merge_headings(text, blocks.headings, _inside(labels, blocks.paragraphs) if labels else [])
    if legal_count < _ENOUGH_LABELS:
        headings = blocks.headings
    return Outline(headings, blocks) if headings or required else None


def _inside(labels: Sequence[LegalLabel], spans: Sequence[tuple[int, int]]) -> list[LegalLabel]:
    starts = [start for start, _ in spans]
    inside: list[LegalLabel] = []
    for label in labels:
        place = bisect_right(starts, label.start) - 1
        if place >= 0 and label.start < spans[place][1]:
            inside.append(label)
    return inside
