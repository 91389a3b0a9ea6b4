"""Numbers in brackets → the passages they name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.types import Citation, NumberedPassage, Span

# [1]  [1, 2]  [1，2、3]  【1】  ［1］  [^1]: models write all of them, whatever they are told.
_CITED = re.compile(r"[\[【［]\s*\^?(\d{1,4}(?:\s*[,，、;；]\s*\^?\d{1,4})*)\s*[\]】］]")


def citations_of(text: str, passages: Sequence[NumberedPassage]) -> tuple[tuple[Citation, ...], tuple[int, ...]]:
    """Find what an answer cites.

    Returns:
        The citations in order of their first mention, with the spans ``[start, end)`` of the brackets in ``text``, code
        points; and the numbers that name no passage, in order.
    """
    mentions = dict[int, list[Span]]()
    for match in _CITED.finditer(text):
        for number in dict.fromkeys(map(int, re.findall(r"\d+", match[1]))):
            mentions.setdefault(number, []).append(match.span())
    known = {passage.number: passage for passage in passages}
    citations = [
        Citation(number, known[number].passage, known[number].start, known[number].end, tuple(spans))
        for number, spans in mentions.items()
        if number in known
    ]
    return tuple(citations), tuple(number for number in mentions if number not in known)
