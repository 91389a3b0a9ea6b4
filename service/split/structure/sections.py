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
# Articles of a law are the paragraphs of their chapter: half of them have less than 100 characters, and refer to their
# neighbours. One article a parent found 54 % of the questions about laws (MRR, both legs), chapters cut into parents of
# up to 800 characters 62 %, with the same children and vectors.
_ARTICLE_SHARE = 1

type Measure = Callable[[int, int], int]
"""Size of the slice between two offsets, in the unit of the budget."""


class Section(NamedTuple):
    """Units ``[first, after)``, of which those before ``body`` are heading lines; ``body < after`` always.

    ``joined`` are the sections that it joins, if it does; ``path`` is what theirs have in common.
    """

    first: int
    body: int
    after: int
    path: tuple[str, ...] = ()
    level: int = 0
    joined: tuple[Section, ...] = ()


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
    """Join small neighbours below one heading up to the budget: articles of a law, and runs of very small sections."""

    def size(first: Section, last: Section) -> int:
        return measure(unit_starts[first.first], unit_ends[last.after - 1])

    def family(section: Section) -> tuple[int, tuple[str, ...]] | None:
        """What a section shares with those that it may be joined with; None for one that stays alone."""
        article = section.level >= ARTICLE_LEVEL
        share = _ARTICLE_SHARE if article else _SMALL_SHARE
        if not section.path or size(section, section) * share > budget:
            return None
        above = section.path[:-1]
        return (section.level, above) if above or article else None

    merged: list[Section] = []
    for shared, members in groupby(sections, family):
        run = list(members)
        if shared is None or (len(run) < _SHORTEST_RUN and run[0].level < ARTICLE_LEVEL):
            merged += run
            continue
        first = 0
        for place in range(1, len(run) + 1):
            if place == len(run) or size(run[first], run[place]) > budget:
                merged.append(_join(run[first:place]))
                first = place
    return merged


def _join(run: list[Section]) -> Section:
    if len(run) == 1:
        return run[0]
    first = run[0]
    return Section(first.first, first.body, run[-1].after, first.path[:-1], first.level - 1, tuple(run))
