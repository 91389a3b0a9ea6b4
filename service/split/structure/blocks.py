"""Blocks inside a section as ranges of units, opened level by level only where a section must be cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple, Protocol

from service.split.characters import CLOSERS, LINE_BREAKS, PAIRED_MARKS, STRONG
from service.split.structure.markdown import WHOLE_BLOCKS, MarkdownBlocks

_ENDS = STRONG | frozenset(".!?;…")
_MARKS_AT_END = "".join((*CLOSERS, *PAIRED_MARKS))


@dataclass(frozen=True, slots=True)
class Units:
    """The smallest parts that are cut between: sentences, or lines of code and tables; shape ``[unit_count]`` each.

    Flags: ``headings`` are lines of headings; ``lines`` are lines of code, tables and headings, all others are
    sentences; ``glued`` units must not end a chunk (headings, the head of a table, the opening line of a fence);
    ``fences`` are fence lines, which parents show and children do without.
    """

    text: str
    starts: list[int]
    ends: list[int]
    glued: bytearray
    headings: bytearray
    lines: bytearray
    fences: bytearray

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Units that start in a span of the text."""
        first = bisect_left(self.starts, start)
        return first, bisect_left(self.starts, end, first)

    def mark(self, flags: bytearray, start: int, end: int) -> None:
        """Set a flag of all units that start in a span."""
        first, after = self.between(start, end)
        flags[first:after] = b"\1" * (after - first)


class Node(NamedTuple):
    """Units ``[first, after)`` that stay together if they fit; ``token`` opens it further. A glued node leads into
    the next one."""

    first: int
    after: int
    token: int | None = None
    glued: bool = False

    @property
    def opens(self) -> bool:
        """Whether there is anything smaller inside."""
        return self.token is not None or self.after - self.first > 1


class BlockTree(Protocol):
    """Where the blocks of a text are."""

    def outer(self, first: int, after: int) -> list[Node]:
        """The outermost blocks of units ``[first, after)``, covering all of them."""

    def inner(self, node: Node) -> list[Node]:
        """The blocks inside one that is too large, covering all of it."""


class MarkdownTree:
    """Blocks of Markdown."""

    def __init__(self, blocks: MarkdownBlocks, units: Units) -> None:
        self._blocks = blocks
        self._units = units

    @cached_property
    def _outer_ends(self) -> list[int]:
        return [self._blocks.span(index)[1] for index in self._blocks.outer]

    def outer(self, first: int, after: int) -> list[Node]:
        """See :class:`BlockTree`."""
        place = bisect_right(self._outer_ends, self._units.starts[first])
        stop = bisect_left(self._outer_ends, self._units.ends[after - 1]) + 1
        return _cover(self._nodes(self._blocks.outer[place:stop]), first, after, self._units)

    def inner(self, node: Node) -> list[Node]:
        """See :class:`BlockTree`."""
        nodes = self._nodes(list(self._blocks.inner(node.token))) if node.token is not None else []
        return _cover(nodes, node.first, node.after, self._units)

    def _nodes(self, indices: list[int]) -> list[Node]:
        tokens = self._blocks.tokens
        nodes: list[Node] = []
        for index, following in zip_longest(indices, indices[1:]):
            first, after = self._units.between(*self._blocks.span(index))
            if first < after and tokens[index].type != "heading_open":
                leads = following is not None and tokens[following].type in WHOLE_BLOCKS
                glued = leads and tokens[index].type == "paragraph_open" and _is_lead_in(self._units, after - 1)
                nodes.append(Node(first, after, index, glued))
        return nodes


class LineTree:
    """Blocks of plain text: its lines."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def outer(self, first: int, after: int) -> list[Node]:
        """See :class:`BlockTree`."""
        nodes: list[Node] = []
        start = first
        for unit in range(first + 1, after + 1):
            if unit == after or not LINE_BREAKS.isdisjoint(
                self._units.text[self._units.ends[unit - 1] : self._units.starts[unit]]
            ):
                nodes.append(Node(start, unit))
                start = unit
        return nodes

    def inner(self, node: Node) -> list[Node]:
        """See :class:`BlockTree`."""
        return _cover([], node.first, node.after, self._units)


def _is_lead_in(units: Units, last: int) -> bool:
    """A paragraph in front of a list, table or fence leads into it unless it ends like a sentence."""
    text = units.text[units.starts[last] : units.ends[last]].rstrip(_MARKS_AT_END)
    return text[-1:] not in _ENDS


def _cover(nodes: Iterable[Node], first: int, after: int, units: Units) -> list[Node]:
    """Clip nodes to ``[first, after)`` and fill the gaps with single units."""
    covering: list[Node] = []
    position = first
    for node in nodes:
        if node.first >= after:
            break
        if node.after <= position:
            continue
        covering += _single(range(position, node.first), units)
        position, end = max(position, node.first), min(node.after, after)
        covering.append(Node(position, end, node.token, node.glued and end == node.after))
        position = end
    return covering + _single(range(position, after), units)


def _single(indices: Sequence[int], units: Units) -> list[Node]:
    return [Node(unit, unit + 1, None, bool(units.glued[unit])) for unit in indices]
