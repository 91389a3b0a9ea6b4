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
    """Pack like parents, but inside each parent and with dynamic overlap.

    When a child closes before its parent ends, the next one starts with the same sentence again, provided that this
    sentence is no longer than ``mean_length``, is not the closing child's only one (the start always advances), and
    leaves room for the sentence after it (a repetition is never all of a child).

    Returns:
        The children, and for each the index of its parent.
    """
    children = Groups()
    owners: list[int] = []
    for parent, (parent_first, parent_after) in enumerate(zip(parents.first, parents.after, strict=True)):
        child = parent_first
        while True:
            after = max(bisect_right(ends, starts[child] + size, child, parent_after), child + 1)
            children.first.append(child)
            children.after.append(after)
            owners.append(parent)
            if after == parent_after:
                break
            last = after - 1
            repeats = last > child and ends[last] - starts[last] <= mean_length and ends[after] - starts[last] <= size
            child = last if repeats else after
    return children, owners
