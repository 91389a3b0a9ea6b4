"""Text as searches see it: normalised, and as terms. Pure, and fast enough for whole passages.

Normalised text is in NFKC, lower case and simplified characters. Each character is mapped by itself, without looking
at its neighbours, except that a letter and the marks that compose with it count as one: so it can always be told which
original character a normalised one comes from.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain, repeat
from operator import add

import regex
from opencc import OpenCC

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Han characters, for the inside of a character class."""

# A character with what NFKC may compose with it: marks, Hangul jamo, half-width voiced sound marks and jamo.
_CONTINUES = r"[\p{M}\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7fb\uff9e-\uffdc]"
_HAS_CONTINUATION = regex.compile(_CONTINUES)
_COMPOSED = regex.compile(rf".{_CONTINUES}+", regex.DOTALL)
# C, C++ and C# are three languages; signs end every other word, so 2.5, AX-200 and a@b.cn are found by their parts.
_TERM = re.compile(rf"[{HAN}]+|(?<![a-z0-9])[a-z](?:\+\+|#)|[^\W_{HAN}]+")
_IS_HAN = re.compile(rf"[{HAN}]")


class _Mapping:
    """Normalised characters by code point, found out when first met; a plain dict, which `str.translate` reads fast."""

    def __init__(self) -> None:
        self.table: dict[int, str] = {}
        self._known = set[str]()
        self._longer = set[str]()
        self._simplified = OpenCC("t2s").convert

    def apply(self, text: str) -> str:
        """Map every character by itself; none gets lost, some become several."""
        present = set(text)
        if not present <= self._known:
            self._learn(present - self._known)
        return text.translate(self.table)

    def longer(self, text: str) -> dict[str, int]:
        """Characters of a text that become several: how many."""
        return {character: len(self.table[ord(character)]) for character in self._longer.intersection(text)}

    def _learn(self, characters: set[str]) -> None:
        for character in characters:
            mapped = _lower_nfkc(character)
            if _IS_HAN.search(mapped):
                # one by one: what a character becomes must not hang on its neighbours
                mapped = "".join(map(self._simple, mapped))
            self.table[ord(character)] = mapped
            if len(mapped) > 1:
                self._longer.add(character)
        self._known |= characters

    def _simple(self, character: str) -> str:
        simplified = self._simplified(self._simplified(character))  # 薴 becomes 苧, and that 苎
        return simplified if len(simplified) == 1 else character


def _lower_nfkc(text: str) -> str:
    # the lower case of a letter may want to be composed again
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())


@cache
def _mapping() -> _Mapping:
    return _Mapping()


def normalise(text: str) -> str:
    """Return the text in NFKC, lower case and simplified characters."""
    if text.isascii():
        return text.lower()
    if _HAS_CONTINUATION.search(text):
        text = _COMPOSED.sub(lambda match: _lower_nfkc(match.group()), text)
    return _mapping().apply(text)


def normalise_with_offsets(text: str) -> tuple[str, list[int]]:
    """Return `normalise(text)`, and for each of its characters the position in ``text`` of the one it comes from.

    Positions count code points from 0 and never fall. A character that becomes several (㌀, ﬁ, …) is named by all of
    them; several that become one are named by the first.
    """
    if text.isascii():
        return text.lower(), list(range(len(text)))
    if not _HAS_CONTINUATION.search(text):
        return _mapped(text, list(range(len(text))))
    pieces, origins, at = list[str](), list[int](), 0
    for match in _COMPOSED.finditer(text):
        pieces.append(text[at : match.start()])
        origins += range(at, match.start())
        composed = _lower_nfkc(match.group())
        pieces.append(composed)
        origins += repeat(match.start(), len(composed))
        at = match.end()
    pieces.append(text[at:])
    origins += range(at, len(text))
    return _mapped("".join(pieces), origins)


def _mapped(text: str, origins: list[int]) -> tuple[str, list[int]]:
    mapping = _mapping()
    normalised = mapping.apply(text)
    if len(normalised) == len(text):  # nothing ever gets shorter: one character each
        return normalised, origins
    longer = mapping.longer(text)
    offsets, at = list[list[int]](), 0
    for match in re.finditer(f"[{re.escape(''.join(sorted(longer)))}]", text):
        offsets.append(origins[at : match.start()])
        offsets.append([origins[match.start()]] * longer[match.group()])
        at = match.end()
    offsets.append(origins[at:])
    return normalised, list(chain.from_iterable(offsets))


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, repeated as often as they occur.

    Terms are pairs of neighbouring Han characters (a character alone between others is a term itself), and words and
    numbers of other scripts. Punctuation and signs are no terms and no part of one, except in C++, C# and the like.
    """
    found = list[str]()
    for word in _TERM.findall(normalise(text)):
        if len(word) > 1 and _IS_HAN.match(word):
            found += map(add, word, word[1:])
        else:
            found.append(word)
    return found
