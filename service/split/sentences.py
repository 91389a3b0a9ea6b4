"""Where sentences begin and end. Nothing is rewritten: only offsets come out.

A sentence ends at a line break, and after a run of terminators with the closing quotes and brackets that follow it.
Full-width terminators always end one, except inside a title (《加油！少年》), where a mark is only mentioned
(（？）), and where a comma goes on (“救命！”，他喊). ASCII terminators end one only where `ascii_stops` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.split.ascii_stops import ends_sentence
from service.split.characters import (
    MARKS,
    Kind,
    Kinds,
    Positions,
    is_blank,
    kind_at,
    positions_from,
    positions_of,
)

# A title is a title only when it closes on its line and within this many characters: an unbalanced 《 hides nothing.
_LONGEST_TITLE = 80
_TRIM_ROUNDS = 4
_NON_BLANK = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of terminators: first and last one, and the end of the closing marks after them; shape ``[run_count]``."""

    first: Positions
    last: Positions
    tail: Positions
    strong: NDArray[np.bool_]


def sentence_spans(text: str, kinds: Kinds) -> tuple[Positions, Positions]:
    """Starts and ends of all sentences, in order and without overlap; white space around them is outside."""
    stops = positions_from(kinds, Kind.WEAK)
    stop_kinds = kind_at(kinds, stops)
    is_break = stop_kinds == Kind.BREAK
    breaks = stops[is_break]
    runs = _runs(kinds, stops[~is_break], stop_kinds[~is_break], breaks)
    ends = runs.tail[_ends(text, kinds, runs, breaks)]
    cuts = np.unique(np.concatenate((np.array([0, len(text)]), ends, breaks)))
    return _join_bare(*_trim(text, kinds, cuts[:-1], cuts[1:]), runs, breaks)


def _runs(kinds: Kinds, terminators: Positions, their_kinds: Kinds, breaks: Positions) -> _Runs:
    if not terminators.size:
        return _Runs(terminators, terminators, terminators, np.zeros(0, dtype=np.bool_))
    opens = np.flatnonzero(np.diff(terminators, prepend=-2) != 1)
    first = terminators[opens]
    last = terminators[np.append(opens[1:], len(terminators)) - 1]
    highest = np.maximum.reduceat(their_kinds, opens)
    strong = (highest == Kind.STRONG) | ((highest == Kind.ELLIPSIS) & (last > first))
    return _Runs(first, last, _tails(kinds, first, last + 1, breaks), strong)


def _tails(kinds: Kinds, first: Positions, after: Positions, breaks: Positions) -> Positions:
    """Ends of the closing brackets and quotes that follow each run; two rounds, for quotes inside brackets."""
    tail = after
    for _ in range(2):
        tail = _after_closers(kinds, tail)
        for mark in MARKS:
            here = np.flatnonzero(kind_at(kinds, tail) == mark)
            if here.size:
                tail[here] = _after_mark(kinds, mark, first[here], tail[here], breaks)
    gap = np.flatnonzero(kind_at(kinds, tail) == Kind.SPACE)
    gap = gap[_is_closer(kinds, tail[gap] + 1)]
    if gap.size:
        tail[gap] = _after_closers(kinds, tail[gap] + 1)
    return tail


def _is_closer(kinds: Kinds, positions: Positions) -> NDArray[np.bool_]:
    found = kind_at(kinds, positions)
    return (found == Kind.CLOSER) | (found == Kind.TITLE_CLOSER)


def _after_closers(kinds: Kinds, tail: Positions) -> Positions:
    closing = _is_closer(kinds, tail)
    if not closing.any():
        return tail
    closers = np.sort(np.concatenate((positions_of(kinds, Kind.CLOSER), positions_of(kinds, Kind.TITLE_CLOSER))))
    last = closers[np.flatnonzero(np.diff(closers, append=-1) != 1)]
    return np.where(closing, last[np.searchsorted(last, tail).clip(max=len(last) - 1)] + 1, tail)


def _after_mark(kinds: Kinds, mark: Kind, first: Positions, tail: Positions, breaks: Positions) -> Positions:
    """Pass a mark that looks alike open and closed when an odd number of its kind stands before it on the line."""
    marks = positions_of(kinds, mark)
    opens = marks[np.flatnonzero(np.diff(marks, prepend=-2) != 1)]
    last = marks[np.flatnonzero(np.diff(marks, append=-1) != 1)]
    after = last[np.searchsorted(last, tail)] + 1
    if mark is not Kind.DOUBLE_QUOTE:  # don't, snake_case, 2*3
        opens = opens[(kind_at(kinds, opens - 1) != Kind.OTHER) | (kind_at(kinds, opens + 1) != Kind.OTHER)]
    line_starts = np.concatenate((np.zeros(1, dtype=np.int64), breaks))[np.searchsorted(breaks, first)]
    before = np.searchsorted(opens, first) - np.searchsorted(opens, line_starts)
    return np.where(before % 2 == 1, after, tail)


def _ends(text: str, kinds: Kinds, runs: _Runs, breaks: Positions) -> NDArray[np.bool_]:
    """Which runs end a sentence, shape ``[run_count]``. Runs before a line break need no verdict: the break ends it."""
    if not runs.first.size:
        return runs.strong
    following = kind_at(kinds, runs.tail)
    goes_on = (following == Kind.CLAUSE) | ((following >= Kind.WEAK) & (following != Kind.BREAK))
    before, directly_after = kind_at(kinds, runs.first - 1), kind_at(kinds, runs.last + 1)
    bracketed = (before == Kind.OPENER) & (directly_after == Kind.CLOSER)
    quoted = (before >= MARKS[0]) & (before <= MARKS[-1]) & (before == directly_after)
    possible = ~(goes_on | bracketed | quoted | _in_title(kinds, runs, breaks))
    verdict = runs.strong & possible
    blank = following == Kind.SPACE
    doubtful = ~runs.strong & possible & (blank | (following == Kind.CJK) | (following == Kind.OPENER))
    for index in np.flatnonzero(doubtful).tolist():
        verdict[index] = ends_sentence(text, int(runs.first[index]), int(runs.last[index]) + 1, int(runs.tail[index]))
    return verdict


def _in_title(kinds: Kinds, runs: _Runs, breaks: Positions) -> NDArray[np.bool_]:
    openers, closers = positions_of(kinds, Kind.TITLE_OPENER), positions_of(kinds, Kind.TITLE_CLOSER)
    if not (openers.size and closers.size):
        return np.zeros(len(runs.first), dtype=np.bool_)
    marks = np.sort(np.concatenate((openers, closers)))
    place = np.searchsorted(marks, runs.first)
    left, right = marks[(place - 1).clip(min=0)], marks[place.clip(max=len(marks) - 1)]
    closed = (kind_at(kinds, left) == Kind.TITLE_OPENER) & (kind_at(kinds, right) == Kind.TITLE_CLOSER)
    around = (left < runs.first) & (runs.last < right) & (right - left <= _LONGEST_TITLE)
    return closed & around & (np.searchsorted(breaks, left) == np.searchsorted(breaks, right))


def _trim(text: str, kinds: Kinds, starts: Positions, ends: Positions) -> tuple[Positions, Positions]:
    """Move both ends of each segment over white space; blank segments vanish."""
    starts, ends = starts.copy(), ends.copy()
    at_start = at_end = np.arange(len(starts))
    for _ in range(_TRIM_ROUNDS):
        at_start = at_start[(starts[at_start] < ends[at_start]) & is_blank(kinds, starts[at_start])]
        starts[at_start] += 1
        at_end = at_end[(starts[at_end] < ends[at_end]) & is_blank(kinds, ends[at_end] - 1)]
        ends[at_end] -= 1
    for index in at_start.tolist():  # long runs of blanks, rare
        found = _NON_BLANK.search(text, int(starts[index]), int(ends[index]))
        starts[index] = found.start() if found else ends[index]
    for index in at_end.tolist():
        ends[index] = starts[index] + len(text[starts[index] : ends[index]].rstrip())
    kept = starts < ends
    return starts[kept], ends[kept]


def _join_bare(starts: Positions, ends: Positions, runs: _Runs, breaks: Positions) -> tuple[Positions, Positions]:
    """Join a sentence of nothing but terminators with its neighbour on the same line, the one before if there is."""
    if not (starts.size and runs.first.size):
        return starts, ends
    run = np.searchsorted(runs.first, starts).clip(max=len(runs.first) - 1)
    bare = (runs.first[run] == starts) & (runs.tail[run] >= ends)
    if not bare.any():
        return starts, ends
    line = np.searchsorted(breaks, starts)
    follows = np.diff(line, prepend=-1) == 0
    joined = bare & follows
    alone = np.flatnonzero(bare & ~follows) + 1
    alone = alone[alone < len(starts)]
    joined[alone] |= follows[alone]
    return starts[~joined], ends[np.append(~joined[1:], True)]
