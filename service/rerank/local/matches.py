"""Where the terms of a query stand in many texts at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.query_terms import HAN, normalise, terms

_BLOCK = 50
"""Code points; a window is two blocks, a sentence or two."""
_MOST_TERMS = 200
"""A query is a question; of a pasted page the first terms say enough."""
_BETWEEN = "\0"
"""Stands between two texts, and in none that was stored."""
_BITS = 21
"""Of a code point."""

_HAN = re.compile(rf"[{HAN}]+")
_WORD_CHARACTER = rf"[^\W_{HAN}]"


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: distinct terms in order, and pairs of neighbouring characters as sorted numbers."""

    terms: tuple[str, ...]
    pairs: NDArray[np.int64]
    length: int

    @classmethod
    def of(cls, query: str) -> Query:
        """The terms of a query as sent; blanks at its ends and their kinds do not matter."""
        text = " ".join(normalise(query).split())
        return cls(tuple(dict.fromkeys(terms(query)))[:_MOST_TERMS], np.unique(_pairs(text)), len(text))


@dataclass(frozen=True, slots=True)
class Matches:
    """Terms of a query in texts.

    Attributes:
        counts: how often a term stands in a text, ``[text_count, term_count]``.
        windows: whether it does in two neighbouring blocks of the text, ``[text_count, window_count, term_count]``.
        lengths: code points of the normalised text, ``[text_count]``.
        runs: longest stretch of the text, in code points, in which every pair of neighbours stands in the query too,
            ``[text_count]``; 0 when there is no such pair.
    """

    counts: NDArray[np.float64]
    windows: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    runs: NDArray[np.int64]


def find(query: Query, texts: Sequence[str]) -> Matches:
    """Find the terms of a query in at least one text."""
    # once for all: it costs as much as all the rest
    joined = normalise(_BETWEEN.join(text.replace(_BETWEEN, " ") for text in texts))
    lengths = np.array([len(text) for text in joined.split(_BETWEEN)], dtype=np.int64)
    pairs = _pairs(joined)
    shared = _shared(pairs, query.pairs)
    owners = np.repeat(np.arange(len(texts)), lengths + 1)
    starts = np.cumsum(lengths + 1) - lengths - 1
    where, which = _occurrences(query.terms, joined, pairs, shared)
    owner, term_count = owners[where], len(query.terms)
    counts = np.bincount(owner * term_count + which, minlength=len(texts) * term_count)
    blocks = np.zeros((len(texts), int(lengths.max()) // _BLOCK + 2, term_count), dtype=np.bool_)
    blocks[owner, (where - starts[owner]) // _BLOCK, which] = True
    return Matches(
        counts=counts.reshape(len(texts), term_count).astype(np.float64),
        windows=blocks[:, :-1] | blocks[:, 1:],
        lengths=lengths,
        runs=_longest_runs(shared, owners, len(texts)),
    )


def _pairs(text: str) -> NDArray[np.int64]:
    """A number for each two neighbouring characters, by the place of the first."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    return (codes[:-1] << _BITS) | codes[1:]


def _shared(pairs: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of wanted pairs; nearly all others are told apart by one look at a table of remainders."""
    table = np.zeros(1 << 16, dtype=np.bool_)
    table[_remainder(wanted)] = True
    likely = np.flatnonzero(table[_remainder(pairs)])
    return likely[np.isin(pairs[likely], wanted)]


def _remainder(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    return ((pairs >> _BITS) * 31 + pairs) & 0xFFFF


def _occurrences(
    wanted: Sequence[str], joined: str, pairs: NDArray[np.int64], shared: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of terms in the joined text, and which terms they are."""
    of_han = [(int(_pairs(term)[0]), at) for at, term in enumerate(wanted) if len(term) == 2 and _HAN.fullmatch(term)]
    others = {term: at for at, term in enumerate(wanted) if len(term) != 2 or not _HAN.fullmatch(term)}
    numbers = np.array(sorted(of_han), dtype=np.int64).reshape(-1, 2)
    found = pairs[shared]
    slot = np.searchsorted(numbers[:, 0], found)
    hit = slot < len(numbers)
    hit[hit] = numbers[slot[hit], 0] == found[hit]
    where, which = [shared[hit]], [numbers[slot[hit], 1]]
    if others:
        matches = [(match.start(), others[match.group()]) for match in _pattern(others).finditer(joined)]
        table = np.array(matches, dtype=np.int64).reshape(-1, 2)
        where.append(table[:, 0])
        which.append(table[:, 1])
    return np.concatenate(where), np.concatenate(which)


def _pattern(wanted: Sequence[str] | dict[str, int]) -> re.Pattern[str]:
    """Whole words, of which C++ and C# end where their signs do, and single Han characters anywhere."""
    signs = [re.escape(term) for term in wanted if term.endswith(("+", "#"))]
    characters = [term for term in wanted if _HAN.fullmatch(term)]
    words = [re.escape(term) for term in wanted if not term.endswith(("+", "#")) and not _HAN.fullmatch(term)]
    if words:
        signs.append(f"(?:{'|'.join(words)})(?!{_WORD_CHARACTER})")
    if signs:
        characters.append(f"(?<!{_WORD_CHARACTER})(?:{'|'.join(signs)})")
    return re.compile("|".join(characters))


def _longest_runs(shared: NDArray[np.int64], owners: NDArray[np.int64], text_count: int) -> NDArray[np.int64]:
    """Length of the longest run of consecutive places in each text, and 1 for the last character of its last pair."""
    longest = np.zeros(text_count, dtype=np.int64)
    if len(shared):
        edges = np.flatnonzero(np.diff(shared) != 1) + 1
        first = np.concatenate(([0], edges))
        after = np.concatenate((edges, [len(shared)]))
        np.maximum.at(longest, owners[shared[first]], after - first + 1)
    return longest
