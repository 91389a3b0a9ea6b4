"""Pack consecutive sentences into chunks: parents first, then children inside each parent."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from service.split.characters import Positions


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of consecutive sentences: group i is ``sentences[first[i]:after[i]]``."""

    first: list[int]
    after: list[int]


def pack_parents(starts: Positions, ends: Positions, size: int) -> Groups:
    """Take sentences while the slice from the first start to the last end stays within ``size`` code points.

    A sentence that is longer makes a group alone.
    """
    fitting = _fitting(starts, ends, size)
    first: list[int] = []
    after: list[int] = []
    index = 0
    while index < len(fitting):
        first.append(index)
        index = fitting[index]
        after.append(index)
    return Groups(first, after)


def pack_children(starts: Positions, ends: Positions, parents: Groups, size: int, text_length: int) -> Groups:
    """Pack like parents, but inside each parent and with dynamic overlap.

    When a child closes before its parent ends, the next one starts with the same sentence again, provided that this
    sentence is no longer than the mean sentence of the text, is not the closing child's only one (the start always
    advances), and leaves room for the sentence after it (the repetition is never all of a child).
    """
    fitting = _fitting(starts, ends, size)
    mean = text_length / max(1, len(starts))
    short = (ends - starts <= mean).tolist()
    pair_fits = (np.append(ends[1:], ends[-1:]) - starts <= size).tolist()
    first: list[int] = []
    after: list[int] = []
    for index, parent_after in zip(parents.first, parents.after, strict=True):
        child = index
        while True:
            stop = min(fitting[child], parent_after)
            first.append(child)
            after.append(stop)
            if stop == parent_after:
                break
            repeated = stop - 1
            child = repeated if repeated > child and short[repeated] and pair_fits[repeated] else stop
    return Groups(first, after)


def _fitting(starts: Positions, ends: Positions, size: int) -> list[int]:
    """For each sentence, the end of the largest group that starts with it."""
    after = np.searchsorted(ends, starts + size, side="right")
    fitting: list[int] = np.maximum(after, np.arange(1, len(starts) + 1)).tolist()
    return fitting


def parent_of_each(children: Groups, parents: Groups) -> list[int]:
    """Ordinal of the parent that each child lies in."""
    return [bisect_right(parents.first, child) - 1 for child in children.first]
