"""Pack consecutive sentences into chunks: parents first, then children inside each parent."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of consecutive sentences, group i being ``sentences[first[i]:after[i]]``."""

    first: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)

    def spans(self, starts: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
        """Starts and ends of the groups, from those of the sentences."""
        return [starts[first] for first in self.first], [ends[after - 1] for after in self.after]


def pack_parents(starts: list[int], ends: list[int], size: int) -> Groups:
    """Take sentences while the slice from the first start to the last end stays within ``size`` code points.

    A sentence that is longer makes a group alone.
    """
    parents = Groups()
    index = 0
    while index < len(starts):
        parents.first.append(index)
        index = max(bisect_right(ends, starts[index] + size, index), index + 1)
        parents.after.append(index)
    return parents


def pack_children(
    starts: list[int], ends: list[int], parents: Groups, size: int, mean_length: float
) -> tuple[Groups, list[int]]:
    """Pack the sentences of each parent into children.

    Returns:
        The children, and for each the index of its parent.
    """
    children = Groups()
    owners: list[int] = []
    for parent, (first, after) in enumerate(zip(parents.first, parents.after, strict=True)):
        pack_one_parent(starts, ends, first, after, size=size, mean_length=mean_length, into=children)
        owners += [parent] * (len(children.first) - len(owners))
    return children, owners


def pack_one_parent(
    starts: list[int], ends: list[int], first: int, after: int, *, size: int, mean_length: float, into: Groups
) -> None:
    """Add the children of one parent to ``into``: packed like parents, but with dynamic overlap.

    When a child closes before its parent ends, the next one starts with the same sentence again, provided that this
    sentence is no longer than ``mean_length``, is not the closing child's only one (the start always advances), and
    leaves room for the sentence after it (a repetition is never all of a child).
    """
    child = first
    while True:
        stop = max(bisect_right(ends, starts[child] + size, child, after), child + 1)
        into.first.append(child)
        into.after.append(stop)
        if stop == after:
            return
        last = stop - 1
        repeats = last > child and ends[last] - starts[last] <= mean_length and ends[stop] - starts[last] <= size
        child = last if repeats else stop
