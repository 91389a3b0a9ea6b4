"""Which characters are Han, for regular expressions and for counting."""

from __future__ import annotations

import re

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Ranges for a character class: ideographs, radicals, 々 and 〇."""

_HAN_CHARACTER = re.compile(f"[{HAN}]")


def count_han(text: str) -> int:
    """How many characters of the text are Han."""
    return len(_HAN_CHARACTER.findall(text))
