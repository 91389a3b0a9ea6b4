"""Spans of the packed sentences as the frozen values that leave this room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from service.types import ChildSpan, Page, ParentSpan

type PageNumbers = tuple[list[int | None], list[int | None]]
"""First and last page of each span."""


def page_numbers(pages: Sequence[Page], starts: list[int], ends: list[int]) -> PageNumbers:
    """First and last page of each span; a character between two pages belongs to the one before it."""
    if not pages:
        nothing: list[int | None] = [None] * len(starts)
        return nothing, nothing
    ordered = sorted(pages, key=lambda page: page.start)
    page_starts = np.array([page.start for page in ordered], dtype=np.int64)
    numbers = np.array([page.number for page in ordered], dtype=np.int64)
    first = numbers[(np.searchsorted(page_starts, starts, side="right") - 1).clip(min=0)]
    last = numbers[(np.searchsorted(page_starts, np.array(ends) - 1, side="right") - 1).clip(min=0)]
    return first.tolist(), last.tolist()


def parent_spans(
    starts: list[int],
    ends: list[int],
    pages: Sequence[Page],
    tokens: Sequence[int],
    heading_paths: Sequence[tuple[str, ...]] | None = None,
) -> tuple[ParentSpan, ...]:
    """Parents in order of their ordinals."""
    first, last = page_numbers(pages, starts, ends)
    paths = heading_paths if heading_paths is not None else [()] * len(starts)
    return tuple(map(ParentSpan, range(len(starts)), starts, ends, paths, first, last, tokens))


def child_spans(
    starts: list[int],
    ends: list[int],
    parents: Sequence[int],
    pages: Sequence[Page],
    prefixes: Sequence[str] | None = None,
) -> tuple[ChildSpan, ...]:
    """Children in order of their ordinals; ``parents`` holds the ordinal of each one's parent."""
    first, last = page_numbers(pages, starts, ends)
    texts = prefixes if prefixes is not None else [""] * len(starts)
    return tuple(map(ChildSpan, range(len(starts)), parents, starts, ends, first, last, texts))
