"""Headings of a text in order: those of Markdown and those of legal texts, without tables of contents."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from service.split.structure.legal import ARTICLE_LEVEL, LegalLabel


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line ``[start, end)``; empty (``start == end``) when it is a label in front of running text."""

    start: int
    end: int
    level: int
    title: str


def merge_headings(text: str, outline: Sequence[Heading], labels: Sequence[LegalLabel]) -> tuple[list[Heading], int]:
    """Join both kinds.

    Returns:
        The headings in order, and how many of them are legal ones.
    """
    kept = {heading.start: heading for heading in outline}
    limits = sorted({*kept, *(label.start for label in labels)})
    for label in reversed(labels):
        place = bisect_right(limits, label.start)
        following = limits[place] if place < len(limits) else len(text)
        deeper = kept.get(following)
        heading = _judge(text, label, following, deeper.level if deeper else 0)
        if heading:
            kept[label.start] = heading
    return [kept[start] for start in sorted(kept)], len(kept) - len(outline)


def _judge(text: str, label: LegalLabel, following: int, next_level: int) -> Heading | None:
    """A line without a body is a heading when a deeper one follows; else an article is its own body, and what is
    left belongs to a table of contents."""
    if label.line_end is None:
        return Heading(label.start, label.start, label.level, label.label)
    body = text[label.line_end : following]
    if next_level > label.level or (body and not body.isspace()):
        title = " ".join(text[label.start : label.line_end].replace("*", " ").split())
        return Heading(label.start, label.line_end, label.level, title)
    if label.level >= ARTICLE_LEVEL:
        return Heading(label.start, label.start, label.level, label.label)
    return None
