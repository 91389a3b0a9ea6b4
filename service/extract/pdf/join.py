"""How two lines of one paragraph become one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from service.extract.tidy.han import HAN, count_han

_WIDE = f"{HAN}\u3000-\u303f\uff00-\uffef‘’“”—…·"
_ENDS_WIDE = re.compile(f"[{_WIDE}]$")
_STARTS_WIDE = re.compile(f"^[{_WIDE}]")
_HYPHENATED = re.compile(r"([A-Za-zÀ-ɏ]{2,})[-‐]$")
_LOWER_START = re.compile(r"^([a-zß-ɏ]{2,})")
_HAN_LATIN = re.compile(f"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]")
_HAN_BLANK_LATIN = re.compile(f"[{HAN}] [A-Za-z0-9]|[A-Za-z0-9] [{HAN}]")
_WORD = re.compile(r"[A-Za-zÀ-ɏ]+(?:-[A-Za-zÀ-ɏ]+)*")


def ends_hyphenated(before: str, after: str) -> bool:
    """True when a word was parted by a hyphen at the line end."""
    return bool(_HYPHENATED.search(before.rstrip()) and _LOWER_START.match(after.lstrip()))


def is_han_pair(before: str, after: str) -> bool:
    """True when one line ends and the next begins with a Han character."""
    return count_han(before[-1:] + after[:1]) == 2


class Joiner:
    """Joins lines in the style of one document: its own words decide hyphens, its own habit decides mixed blanks."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: set[str] = set()
        tight = loose = 0
        for line in lines:
            self._words.update(word.lower() for word in _WORD.findall(line.rstrip("-‐ ")))
            tight += len(_HAN_LATIN.findall(line))
            loose += len(_HAN_BLANK_LATIN.findall(line))
        self._mixed = " " if loose > tight else ""

    def join(self, before: str, after: str) -> str:
        """One line: nothing between full-width characters, a blank between words, hyphens of line ends removed."""
        before, after = before.rstrip(), after.lstrip()
        hyphenated = _HYPHENATED.search(before)
        continuation = _LOWER_START.match(after)
        if hyphenated and continuation:
            is_compound = f"{hyphenated.group(1)}-{continuation.group(1)}".lower() in self._words
            return before + after if is_compound else before[:-1] + after
        ends_wide, starts_wide = _ENDS_WIDE.search(before), _STARTS_WIDE.match(after)
        if ends_wide and starts_wide:
            return before + after
        if ends_wide or starts_wide:
            is_mark = not re.match(f"[{HAN}]", before[-1] if ends_wide else after[0])
            return before + ("" if is_mark else self._mixed) + after
        return f"{before} {after}"
