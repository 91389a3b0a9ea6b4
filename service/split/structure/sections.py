"""Headings cut a text into sections: each has the path of its headings and a run of units (sentences or lines)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from service.split.structure.headings import Heading
from service.split.structure.legal import ARTICLE_LEVEL

# Neighbours below a tenth of the budget say too little alone; larger ones are worth a place and a path of their own.
_SMALL_SHARE = 10
# Two small neighbours keep their own paths; a glossary or a list of questions is read together.
_SHORTEST_RUN = 3

type Measure = Callable[[int, int], int]
"""Size of the slice between two offsets, in the unit of the budget."""


class Section(NamedTuple):
    """Units ``[first, after)``, of which those before ``body`` are heading lines; ``body < after`` always."""

    first: int
    body: int
    after: int
    path: tuple[str, ...] = ()
    level: int = 0


def cut_sections(headings: Sequence[Heading], unit_starts: Sequence[int]) -> list[Section]:
    """One section from each heading to the next one, and one for the text before the first.

    A heading without a body leads into the section that follows; at the end of the text it is part of the last one.
    """
    if not unit_starts:
        return []
    edges = [bisect_left(unit_starts, heading.start) for heading in headings] or [len(unit_starts)]
    sections = [Section(0, 0, edges[0])] if edges[0] > 0 else []
    levels: list[int] = []
    paths: list[tuple[str, ...]] = [()]  # path below each open heading, the outermost first
    shell: int | None = None
    for heading, first, after in zip(headings, edges, [*edges[1:], len(unit_starts)], strict=False):
        while levels and levels[-1] >= heading.level:
            levels.pop()
            paths.pop()
        levels.append(heading.level)
        paths.append((*paths[-1], heading.title) if heading.title else paths[-1])
        body = bisect_left(unit_starts, heading.end)
        shell = first if shell is None else shell
        if body < after:
            sections.append(Section(shell, body, after, paths[-1], heading.level))
            shell = None
    if shell is not None and shell < len(unit_starts):
        if sections:
            sections[-1] = sections[-1]._replace(after=len(unit_starts))
        else:
            sections.append(Section(shell, shell, len(unit_starts)))
    return sections


def merge_small(
    sections: Sequence[Section], unit_starts: Sequence[int], unit_ends: Sequence[int], measure: Measure, budget: int
) -> list[Section]:
    """Join runs of very small neighbours below one heading up to the budget; articles of a law stay apart."""

    def size(first: Section, last: Section) -> int:
        return measure(unit_starts[first.first], unit_ends[last.after - 1])

    def family(section: Section) -> tuple[str, ...] | None:
        if len(section.path) < 2 or section.level >= ARTICLE_LEVEL or size(section, section) * _SMALL_SHARE > budget:
            return None
        return section.path[:-1]

    merged: list[Section] = []
    for above, members in groupby(sections, family):
        run = list(members)
        if above is None or len(run) < _SHORTEST_RUN:
            merged += run
            continue
        first = 0
        for place in range(1, len(run) + 1):
            if place == len(run) or size(run[first], run[place]) > budget:
                joined = run[first]
                if place - first > 1:
                    joined = Section(joined.first, joined.body, run[place - 1].after, above, joined.level - 1)
                merged.append(joined)
                first = place
    return merged
