"""Pack consecutive sentences into chunks: parents first, then children inside each parent."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from service.split.soft_cuts import SoftCuts


@dataclass(frozen=True, slots=True)
class ChildRule:
    """Largest child in code points, longest sentence that is repeated, and how cuts are chosen if by meaning."""

    size: int
    mean_length: float
    soft: SoftCuts | None = None


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of consecutive sentences, group i being ``sentences[first[i]:after[i]]``."""

    first: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)

    def spans(self, starts: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
        """Starts and ends of the groups, from those of the sentences."""
        return [starts[first] for first in self.first], [ends[after - 1] for after in self.after]


def pack_parents(starts: list[int], ends: list[int], size: int, soft: SoftCuts | None = None) -> Groups:
    """Take sentences while the slice from the first start to the last end stays within ``size`` code points.

    A sentence that is longer makes a group alone. With ``soft`` cuts a group may close a little earlier.
    """
    parents = Groups()
    first = 0
    while first < len(starts):
        after = max(bisect_right(ends, starts[first] + size, first), first + 1)
        if soft and after < len(starts):
            after = soft.choose(first, first + 1, after, size)
        parents.first.append(first)
        parents.after.append(after)
        first = after
    return parents


def pack_children(starts: list[int], ends: list[int], parents: Groups, rule: ChildRule) -> tuple[Groups, list[int]]:
    """Pack the sentences of each parent into children.

    Returns:
        The children, and for each the index of its parent.
    """
    children = Groups()
    owners: list[int] = []
    for parent, (first, after) in enumerate(zip(parents.first, parents.after, strict=True)):
        pack_one_parent(starts, ends, first, after, rule, into=children)
        owners += [parent] * (len(children.first) - len(owners))
    return children, owners


def pack_one_parent(
    starts: list[int], ends: list[int], first: int, after: int, rule: ChildRule, *, into: Groups
) -> None:
    """Add the children of one parent to ``into``: packed like parents, but with dynamic overlap.

    When a child closes before its parent ends, the next one starts with the same sentence again, provided that this
    sentence is no longer than the mean, is not the closing child's only one (the start always advances), and leaves
    room for the sentence after it (a repetition is never all of a child).
    """
    size, mean_length, soft = rule.size, rule.mean_length, rule.soft
    child = least = first
    while True:
        stop = max(bisect_right(ends, starts[child] + size, child, after), child + 1)
        if soft and stop < after:
            stop = soft.choose(child, least + 1, stop, size)
        into.first.append(child)
        into.after.append(stop)
        if stop == after:
            return
        last = stop - 1
        repeats = last > child and ends[last] - starts[last] <= mean_length and ends[stop] - starts[last] <= size
        child, least = (last if repeats else stop), stop
