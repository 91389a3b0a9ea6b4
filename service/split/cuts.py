"""What both strategies give: spans of parents and children in order, and how they become the values of `types`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np

from service.types import ChildSpan, Page, ParentSpan


@dataclass(frozen=True, slots=True)
class ParentCuts:
    """Starts, ends and heading paths of the parents; no paths at all when the text has no structure."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    paths: list[tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class ChildCuts:
    """Starts and ends of the children, the index of each one's parent, what is put before it for embedding, and its
    headings below the parent's path."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    prefixes: list[str] | None = None
    inner_paths: list[tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Cuts:
    """A text that was cut."""

    parents: ParentCuts
    children: ChildCuts

    def parent_spans(self, pages: Sequence[Page], tokens: Sequence[int]) -> tuple[ParentSpan, ...]:
        """Parents with their ordinals and pages; ``tokens`` has a count for each."""
        starts, ends = self.parents.starts, self.parents.ends
        first, last = _page_numbers(pages, starts, ends)
        paths = self.parents.paths if self.parents.paths is not None else repeat(())
        return _records(ParentSpan, len(starts), (range(len(starts)), starts, ends, paths, first, last, tokens))

    def child_spans(self, pages: Sequence[Page]) -> tuple[ChildSpan, ...]:
        """Children with their ordinals and pages."""
        starts, ends = self.children.starts, self.children.ends
        first, last = _page_numbers(pages, starts, ends)
        prefixes = self.children.prefixes if self.children.prefixes is not None else repeat("")
        inner = self.children.inner_paths if self.children.inner_paths is not None else repeat(())
        columns = (range(len(starts)), self.children.owners, starts, ends, first, last, prefixes, inner)
        return _records(ChildSpan, len(starts), columns)


def _records[Record](kind: type[Record], count: int, columns: Sequence[Iterable[Any]]) -> tuple[Record, ...]:
    """Frozen dataclasses from one column a field, in the order of the fields.

    Filling slots column by column takes a third of the time of calling the class, whose ``__init__`` goes through
    ``object.__setattr__`` for each field; that was a fifth of the time of the whole splitter.
    """
    records = tuple(map(object.__new__, repeat(kind, count)))
    nothing: deque[None] = deque(maxlen=0)
    for setter, column in zip(_slot_setters(kind), columns, strict=True):  # type: ignore[arg-type]  # a class is hashable
        nothing.extend(map(setter, records, column))
    return records


@cache
def _slot_setters(kind: type[Any]) -> list[Callable[[Any, Any], None]]:
    return [getattr(kind, each.name).__set__ for each in fields(kind)]


def _page_numbers(
    pages: Sequence[Page], starts: list[int], ends: list[int]
) -> tuple[Sequence[int | None], Sequence[int | None]]:
    """First and last page of each span; a character between two pages belongs to the one before it."""
    if not pages:
        unknown = [None] * len(starts)
        return unknown, unknown
    ordered = sorted(pages, key=lambda page: page.start)
    page_starts = np.array([page.start for page in ordered], dtype=np.int64)
    numbers = np.array([page.number for page in ordered], dtype=np.int64)
    first = numbers[(np.searchsorted(page_starts, starts, side="right") - 1).clip(min=0)]
    last = numbers[(np.searchsorted(page_starts, np.array(ends) - 1, side="right") - 1).clip(min=0)]
    return first.tolist(), last.tolist()
