"""What kind of character stands where: one byte a code point, looked up for a whole text at once.

The splitter asks its questions ("which terminators", "where are blanks") of this array by numpy instead of walking
over the text in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

type Kinds = NDArray[np.uint8]
"""Kind and token weight of every code point of a text and of one line break after its end, shape ``[length + 1]``."""


class Kind(IntEnum):
    """Role of a character; the last three can end a sentence or a line."""

    SPACE = 0
    OTHER = 1
    CJK = 2
    CLOSER = 3
    DOT = 4
    TERMINATOR = 5
    BREAK = 6


SPACES = frozenset(
    "\t\x1f \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
LINE_BREAKS = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
DOTS = frozenset(".．")
STRONG = frozenset("。！？；｡‼⁇⁈⁉﹔﹖﹗︒︔︕︖।॥؟۔")
"""Terminators that end a sentence wherever they stand in running text."""
TERMINATORS = STRONG | DOTS | frozenset("!?;…")

CLOSERS = frozenset(")]}）】」』”’］｝〕〗〙〛»›｣〞〟》〉")
PAIRED_MARKS = frozenset("\"＂'*_`")
"""Marks that look alike whether they open or close."""

_MEMBERS = {
    Kind.SPACE: SPACES,
    Kind.BREAK: LINE_BREAKS,
    Kind.CLOSER: CLOSERS | PAIRED_MARKS,
    Kind.TERMINATOR: TERMINATORS,
    Kind.DOT: DOTS,
}

_WIDE_RANGES = (
    (0x1100, 0x1200),  # Hangul jamo
    (0x2E80, 0x3000),  # radicals
    (0x3001, 0xA4D0),  # CJK punctuation, kana, bopomofo, Han, Yi
    (0xA960, 0xA980),
    (0xAC00, 0xD800),  # Hangul
    (0xF900, 0xFB00),  # compatibility Han
    (0xFE10, 0xFE20),
    (0xFE30, 0xFE70),
    (0xFF00, 0xFFF0),  # full-width forms
    (0x1B000, 0x1B170),
    (0x20000, 0x40000),  # Han extensions B and later
)
_WEIGHT_BITS = 3
_WIDE, _NARROW = 4, 1
# Text is looked up in pieces that stay in the processor's cache; larger ones cost half as much again per character.
_BLOCK = 1 << 16


@cache
def _table() -> Kinds:
    kind = np.full(0x110000, Kind.OTHER, dtype=np.uint8)
    weight = np.full(0x110000, _NARROW, dtype=np.uint8)
    for first, end in _WIDE_RANGES:
        kind[first:end] = Kind.CJK
        weight[first:end] = _WIDE
    for member, characters in _MEMBERS.items():
        points = [ord(character) for character in characters]
        kind[points] = member
        if member in (Kind.SPACE, Kind.BREAK):
            weight[points] = 0
    kind <<= _WEIGHT_BITS
    kind |= weight
    return kind


def kinds_of(text: str) -> Kinds:
    """Look up every code point; the extra last entry is a line break, so that ``kinds[len(text)]`` may be read."""
    table = _table()
    kinds = np.empty(len(text) + 1, dtype=np.uint8)
    for start in range(0, len(text), _BLOCK):
        piece = text[start : start + _BLOCK]
        kinds[start : start + len(piece)] = table[np.frombuffer(piece.encode("utf-32-le", "surrogatepass"), "<u4")]
    kinds[len(text)] = Kind.BREAK << _WEIGHT_BITS
    return kinds


def possible_stops(kinds: Kinds, whole_lines: Sequence[tuple[int, int]] = ()) -> list[int]:
    """Positions where a sentence may end, in order: terminators and line breaks.

    Left out are full stops inside a word, single terminators at the end of a line and all but the first of a run of
    line breaks: the line break ends these sentences. In the spans ``whole_lines`` only line breaks count.
    """
    other, closer, dot, terminator, line_break = (
        kind << _WEIGHT_BITS for kind in (Kind.OTHER, Kind.CLOSER, Kind.DOT, Kind.TERMINATOR, Kind.BREAK)
    )
    stops = np.flatnonzero(kinds[:-1] >= dot)
    here, before, after = kinds[stops], kinds[stops - 1], kinds[stops + 1]
    is_break = here >= line_break
    inside_word = (here < terminator) & (after >= other) & (after < closer)
    at_line_end = (after >= line_break) & (before >= other) & (before < dot) & ~is_break
    again = is_break & (before >= line_break)
    possible = ~(inside_word | at_line_end | again)
    if whole_lines:
        starts, ends = np.array(whole_lines, dtype=np.int64).T
        region = np.searchsorted(starts, stops, side="right") - 1
        possible &= is_break | (region < 0) | (stops >= ends[region])
    found: list[int] = stops[possible].tolist()
    return found


def quarter_tokens(kinds: Kinds) -> Kinds:
    """Token estimate of every character in quarters of a token: 4 for CJK, 1 for other non-blank ones, 0 for blanks."""
    return np.bitwise_and(kinds, np.uint8((1 << _WEIGHT_BITS) - 1))
