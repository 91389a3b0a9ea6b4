"""Text as searches see it: normalised, and as terms. Pure, and fast enough for whole passages.

Normalised text is in NFKC, lower case and simplified characters. Each character is mapped by itself, without looking
at its neighbours, except that a letter and the marks that compose with it count as one: so it can always be told which
original character a normalised one comes from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import chain, repeat
from operator import add

import numpy as np
import regex
from numpy.typing import NDArray
from opencc import OpenCC

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Han characters, for the inside of a character class."""

# A character with what NFKC may compose with it: marks, Hangul jamo, half-width voiced sound marks and jamo.
_CONTINUES = r"[\p{M}\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7fb\uff9e-\uffdc]"
_CONTINUING = regex.compile(_CONTINUES)
_COMPOSED = regex.compile(rf".{_CONTINUES}+", regex.DOTALL)
# C, C++ and C# are three languages; signs end every other word, so 2.5, AX-200 and a@b.cn are found by their parts.
_TERM = re.compile(rf"[{HAN}]+|(?<![a-z0-9])[a-z](?:\+\+|#)|[^\W_{HAN}]+")
_IS_HAN = re.compile(rf"[{HAN}]")

_CODE_POINTS = 0x110000
_KNOWN, _BECOMES_SEVERAL, _CONTINUES_ANOTHER = 1, 2, 4


class _Mapping:
    """Normalised characters by code point, found out when first met; arrays, since whole passages are looked up.

    Safe from several threads: whoever learns a character writes the same, and marks it as known at last.
    """

    def __init__(self) -> None:
        self._mapped = np.arange(_CODE_POINTS, dtype="<u4")
        self._kinds = np.zeros(_CODE_POINTS, dtype=np.uint8)
        self._several: dict[str, str] = {}
        self._simplified = OpenCC("t2s").convert

    def may_compose(self, text: str) -> bool:
        """Whether some character of a text may become one with the character before it."""
        return _holds(_CONTINUES_ANOTHER, self._kinds_of(_codes(text)))

    def apply(self, text: str) -> str:
        """Map every character by itself; none gets lost, some become several."""
        codes = _codes(text)
        kinds = self._kinds_of(codes)
        mapped = self._mapped[codes].tobytes().decode("utf-32-le", "surrogatepass")
        if _holds(_BECOMES_SEVERAL, kinds):
            # what a character became is mapped to itself, so it is none of these
            for character in self.several(text):
                mapped = mapped.replace(character, self._several[character])
        return mapped

    def several(self, text: str) -> dict[str, int]:
        """Characters of a text that become several: how many."""
        return {character: len(self._several[character]) for character in self._several.keys() & set(text)}

    def _kinds_of(self, codes: NDArray[np.uint32]) -> bytes:
        kinds = self._kinds[codes].tobytes()
        if 0 in kinds:
            for code in np.unique(codes[self._kinds[codes] == 0]):
                self._learn(int(code))
            kinds = self._kinds[codes].tobytes()
        return kinds

    def _learn(self, code: int) -> None:
        character, kind = chr(code), _KNOWN
        mapped = _lower_nfkc(character)
        if _IS_HAN.search(mapped):
            # one by one: what a character becomes must not hang on its neighbours
            mapped = "".join(map(self._simple, mapped))
        if len(mapped) == 1:
            self._mapped[code] = ord(mapped)
        else:
            self._several[character] = mapped
            kind |= _BECOMES_SEVERAL
        if _CONTINUING.match(character):
            kind |= _CONTINUES_ANOTHER
        self._kinds[code] = kind

    def _simple(self, character: str) -> str:
        simplified = self._simplified(self._simplified(character))  # 薴 becomes 苧, and that 苎
        return simplified if len(simplified) == 1 else character


def _holds(flag: int, kinds: bytes) -> bool:
    """Whether some character is of that kind; looking for bytes is ten times as fast as comparing an array."""
    return any(kind & flag and kind in kinds for kind in range(8))


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


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
    if _mapping().may_compose(text):
        text = _COMPOSED.sub(lambda match: _lower_nfkc(match.group()), text)
    return _mapping().apply(text)


def normalise_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Return `normalise(text)`, and for each of its characters the position in ``text`` of the one it comes from.

    Positions count code points from 0 and never fall. A character that becomes several (㌀, ﬁ, …) is named by all of
    them; several that become one are named by the first.
    """
    if text.isascii():
        return text.lower(), range(len(text))
    if not _mapping().may_compose(text):
        return _mapped(text, range(len(text)))
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


def _mapped(text: str, origins: Sequence[int]) -> tuple[str, Sequence[int]]:
    mapping = _mapping()
    normalised = mapping.apply(text)
    if len(normalised) == len(text):  # nothing ever gets shorter: one character each
        return normalised, origins
    several = mapping.several(text)
    offsets, at = list[Sequence[int]](), 0
    for match in re.finditer(f"[{re.escape(''.join(sorted(several)))}]", text):
        offsets.append(origins[at : match.start()])
        offsets.append([origins[match.start()]] * several[match.group()])
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
