"""Sections → parents: whole where they fit, else block by block, with the tail of one repeated in the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from service.split.characters import CLOSERS, PAIRED_MARKS, TERMINATORS
from service.split.sentences import next_plain_boundary
from service.split.structure.blocks import BlockTree, Node, Units
from service.split.structure.sections import Measure, Section

_SENTENCE_END = TERMINATORS | CLOSERS | PAIRED_MARKS


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes of a parent: ``soft`` is aimed at, ``hard`` may be used to keep a block whole; overlap in code points."""

    measure: Measure
    soft: int
    hard: int
    overlap: int


class Parent(NamedTuple):
    """Units ``[first, after)``; ``start`` lies before the first one by the repeated tail of the parent before.

    ``joined`` are the sections that it joins, which cover its units; none when it lies in one section.
    """

    start: int
    first: int
    after: int
    path: tuple[str, ...]
    joined: tuple[Section, ...] = ()


def pack_section(section: Section, tree: BlockTree, units: Units, budget: Budget) -> Iterator[Parent]:
    """Parents of one section, covering all its units."""
    start = units.starts[section.first]
    if budget.measure(start, units.ends[section.after - 1]) <= budget.soft:
        yield Parent(start, section.first, section.after, section.path, section.joined)
        return
    group = _Group(units, budget, start, section.first)
    headings = [Node(unit, unit + 1, glued=True) for unit in range(section.first, section.body)]
    waiting = [*headings, *tree.outer(section.body, section.after)][::-1]
    while waiting:
        node = waiting.pop()
        if group.takes(node):
            continue
        if group.has_content:
            yield group.close(section.path)
            waiting.append(node)
        elif node.opens:
            waiting += tree.inner(node)[::-1]
        elif group.first < group.after:  # headings that leave no room for the unit they lead into
            group.content_after = group.after
            yield group.close(section.path, repeats=False)
            waiting.append(node)
        else:
            group.add(node, leads=False)
    group.content_after = group.after
    if group.first < group.after:
        yield group.close(section.path)


class _Group:
    """The parent that is being filled: units ``[first, after)``, of which those from ``content_after`` on lead into
    what follows (headings, lead-in lines) and move to the next parent when this one closes."""

    def __init__(self, units: Units, budget: Budget, start: int, first: int) -> None:
        self._units = units
        self._budget = budget
        self.start = start
        self.first = self.content_after = self.after = first

    @property
    def has_content(self) -> bool:
        return self.content_after > self.first

    def takes(self, node: Node) -> bool:
        """Add the node if it fits: up to the soft budget, or up to the hard one as the first content."""
        end = self._units.ends[node.after - 1]
        size = self._budget.measure(self.start, end)
        if size > self._budget.soft and not self.has_content and self.start < self._units.starts[self.first]:
            self.start = self._units.starts[self.first]  # the block is worth more than the repeated tail
            size = self._budget.measure(self.start, end)
        if size > (self._budget.soft if self.has_content else self._budget.hard):
            return False
        self.add(node, leads=node.glued)
        return True

    def add(self, node: Node, *, leads: bool) -> None:
        self.after = node.after
        if not leads:
            self.content_after = node.after

    def close(self, path: tuple[str, ...], *, repeats: bool = True) -> Parent:
        """End the parent after its content and begin the next one."""
        parent = Parent(self.start, self.first, self.content_after, path)
        tail = self._tail() if repeats else None
        self.first = self.content_after
        if self.first < len(self._units.starts):
            self.start = self._units.starts[self.first] if tail is None else tail
        return parent

    def _tail(self) -> int | None:
        """Where the next parent starts to repeat: at the last sentence if it is short enough, else, where the text
        has no sentence ends, ``overlap`` code points before the end. Lines of code and tables are not repeated."""
        last = self.content_after - 1
        start, end = self._units.starts[last], self._units.ends[last]
        if self._budget.overlap == 0 or last == self.first or self._units.headings[last] or self._units.lines[last]:
            return None
        if end - start <= self._budget.overlap:
            return start
        if self._units.text[end - 1] in _SENTENCE_END:
            return None
        return next_plain_boundary(self._units.text, end - self._budget.overlap, end)
