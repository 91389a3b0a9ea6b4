"""Cut sentences that are too long for an embedding model: at clause marks, then white space, then anywhere between
two characters as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import sub

import regex

_CLAUSE_END = re.compile(r"[，、：﹐﹑﹕][”’」』）】》]*|[,;:](?=\s)|(?<![0-9])[,;]|,(?![0-9])")
_CLUSTER = regex.compile(r"\X")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
# No writing system needs more code points for one visible character than this; only a longer cluster is cut.
_LONGEST_CLUSTER = 64


def cut_long_sentences(
    text: str, starts: list[int], ends: list[int], *, limit: int, piece_limit: int
) -> tuple[list[int], list[int]]:
    """Replace each sentence of more than ``limit`` code points by pieces of at most ``piece_limit``.

    A run of emoji, rules or dots says nothing that must stay whole: without any letter or digit, ``piece_limit`` is
    the limit.
    Between them the pieces hold every non-blank character. A piece is longer than ``piece_limit`` only when it is
    one grapheme cluster (at most 64 code points).
    """
    if max(map(sub, ends, starts), default=0) <= piece_limit:
        return starts, ends
    long = [
        index
        for index, length in enumerate(map(sub, ends, starts))
        if length > piece_limit and (length > limit or not _LETTER_OR_DIGIT.search(text, starts[index], ends[index]))
    ]
    if not long:
        return starts, ends
    new_starts: list[int] = []
    new_ends: list[int] = []
    done = 0
    for index in long:
        new_starts += starts[done:index]
        new_ends += ends[done:index]
        for start, end in _pieces(text, starts[index], ends[index], piece_limit):
            new_starts.append(start)
            new_ends.append(end)
        done = index + 1
    return new_starts + starts[done:], new_ends + ends[done:]


def _pieces(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Clauses of the sentence, the long ones cut further."""
    clause = start
    for mark in _CLAUSE_END.finditer(text, start, end):
        yield from _cut_clause(text, clause, mark.end(), limit)
        clause = mark.end()
    yield from _cut_clause(text, clause, end, limit)


def _cut_clause(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    while True:
        start = _skip_blanks(text, start, end)
        if end - start <= limit:
            break
        cut = _blank_cut(text, start, limit) or _cluster_cut(text, start, end, limit)
        yield start, start + len(text[start:cut].rstrip())
        start = cut
    if start < end:
        yield start, start + len(text[start:end].rstrip())


def _skip_blanks(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _blank_cut(text: str, start: int, limit: int) -> int | None:
    """After the last word that still fits, if white space follows one; ``text[start]`` is not blank."""
    window = text[start : start + limit + 1]
    if window[-1].isspace():
        return start + limit
    head_and_word = window.rsplit(None, 1)
    return start + len(head_and_word[0]) if len(head_and_word) == 2 else None


def _cluster_cut(text: str, start: int, end: int, limit: int) -> int:
    """The last boundary between grapheme clusters in pieces of nearly equal length."""
    remaining = end - start
    cut = start + -(-remaining // -(-remaining // limit))
    if _is_plain(text[cut - 1]) and _is_plain(text[cut]):
        return cut
    boundary = 0
    for cluster in _CLUSTER.finditer(text[start : cut + 1]):  # of a copy: to pair flags the library looks far back
        if cluster.end() > cut - start:
            break
        boundary = cluster.end()
    if boundary:
        return start + boundary
    first = _CLUSTER.match(text[start : min(end, start + _LONGEST_CLUSTER + 1)])
    whole = first.end() if first else cut - start
    return start + whole if whole <= _LONGEST_CLUSTER else max(cut, start + 1)


def _is_plain(character: str) -> bool:
    """Neither joins a neighbour: printable ASCII or common Han."""
    return " " <= character <= "~" or "\u4e00" <= character <= "\u9fff"


def next_plain_boundary(text: str, position: int, end: int) -> int | None:
    """The first good place from ``position`` on to begin in the middle of a sentence: at a word of a text in words,
    else between two plain characters."""
    for boundary in range(position, min(end, position + _LONGEST_CLUSTER)):
        if text[boundary - 1].isspace() and not text[boundary].isspace():
            return boundary
    for boundary in range(position, min(end, position + _LONGEST_CLUSTER)):
        if _is_plain(text[boundary - 1]) and _is_plain(text[boundary]) and text[boundary] != " ":
            return boundary
    return None
