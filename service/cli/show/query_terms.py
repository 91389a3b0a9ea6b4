"""Where the words of a query stand in a passage, for the eye only: ranking is the database's business."""

from __future__ import annotations

import re

from service.retrieve.query_text import fts_query_text

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SHORTEST = 2
"""Han characters that must agree: one alone (的, 是) stands everywhere."""


def term_spans(query: str, content: str) -> list[tuple[int, int]]:
    """Spans ``[start, end)`` of ``content`` that the query has too: whole Latin words and numbers, and the longest
    runs of at least two characters for words with Han characters. Case does not matter; sorted, without overlap."""
    text = _lower(content)
    spans: list[tuple[int, int]] = []
    for word in dict.fromkeys(_lower(fts_query_text(query)).split()):
        if len(word) >= _SHORTEST and _HAN.search(word):
            spans += _common_runs(word, text)
        else:
            spans += [match.span() for match in re.finditer(_whole(word), text)]
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _common_runs(word: str, text: str) -> list[tuple[int, int]]:
    pairs = {word[at : at + _SHORTEST] for at in range(len(word) - 1)}
    spans, at = list[tuple[int, int]](), 0
    while at < len(text) - 1:
        if text[at : at + _SHORTEST] not in pairs:
            at += 1
            continue
        end = at + _SHORTEST
        while end < len(text) and text[at : end + 1] in word:
            end += 1
        spans.append((at, end))
        at = end
    return spans


def _whole(word: str) -> str:
    """A pattern for the word that does not begin or end inside another Latin word or number."""
    return rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])" if word.isascii() else re.escape(word)


def _lower(text: str) -> str:
    """Lower case that keeps every offset: the few letters that grow stay as they are."""
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)
