"""Lines of a laid-out page, and what can be told of one line alone."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from service.extract.tidy.han import HAN

_STARTER = re.compile(
    r"\s*(?:[•●○◆◇■□▪▫➢►✓·\uf06c\uf06e\uf0a7\uf0b7\uf0d8\uf0fc]\s?"
    r"|[-–—*]\s+\S"
    r"|[（(]?(?:\d{1,3}|[一二三四五六七八九十百]{1,4}|[a-zA-Z]|[ivx]{1,5})[)）]\s*\S"
    r"|(?:\d{1,3}|[一二三四五六七八九十百]{1,4})、\s*\S"
    r"|\d{1,3}(?:\.\d{1,3}){0,4}[.．]\s*(?![\d\s])"
    r"|\d{1,3}(?:\.\d{1,3}){1,4}\s+\S"
    r"|[①-⑳]"
    rf"|第[0-9零一二三四五六七八九十百千]{{1,8}}[编章节条款]\s*[{HAN}\s]"
    r"|单位[：:]"
    r"|[注表图][0-9一二三四五六七八九十]*[：:]"
    r"|(?:附件|附录|附表)\s*[0-9一二三四五六七八九十A-Z]*)"
)
_LEADER = re.compile(r"(?:[.·…]\s?){4,}\s*\S{0,8}\s*$")
_CLOSERS = "”’」』】》）)\"'"
_TERMINATORS = "。！？；：…!?;:."
_INDENT = re.compile(r"^(?:　{1,4}| {2,})\S")
_NUMBER = re.compile(r"^[-+(（]?[¥$€]?\d[\d,.，]*%?[)）]?$|^[-—–]+$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it was laid out. ``after_gap``: the reader saw a new paragraph before it; ``after_blank``: an
    empty line."""

    text: str
    after_gap: bool = False
    after_blank: bool = False


def display_width(text: str) -> int:
    """Width in half-width columns: two for full-width characters."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def starts_anew(text: str) -> bool:
    """True when a line opens an item, a numbered heading or an indented paragraph."""
    return _INDENT.match(text) is not None or _STARTER.match(text) is not None


def ends_sentence(text: str) -> bool:
    """True when the last character, closing marks aside, ends a sentence or announces a list."""
    bare = text.rstrip().rstrip(_CLOSERS)
    return bool(bare) and bare[-1] in _TERMINATORS


def is_tabular(text: str) -> bool:
    """True for a row of figures and for a line of a table of contents."""
    if _LEADER.search(text):
        return True
    tokens = text.split()
    return len(tokens) >= 3 and 2 * sum(1 for token in tokens if _NUMBER.match(token)) >= len(tokens)
