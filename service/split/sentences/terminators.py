"""Judge one run of terminators: how far it reaches with its closing marks, and whether a sentence ends there."""

from __future__ import annotations

import re

from service.split.characters import CLOSERS, PAIRED_MARKS, SPACES, STRONG, TERMINATORS
from service.split.sentences.ascii_stops import ascii_run_ends

_OPENERS = frozenset("([{（【「『“‘［｛〔〖〘〚«‹｢〝《〈")
_WIDE_CLOSERS = CLOSERS - frozenset(")]}")
_CLAUSE_MARKS = frozenset("，、：,:﹐﹑﹕︐︑︓")
# What counts as one paired mark: not the middle of don't, snake_case or 2*3.
_MARKS = {
    '"': re.compile(r'"+'),
    "＂": re.compile(r"＂+"),
    "'": re.compile(r"(?<![0-9A-Za-z])'|'(?![0-9A-Za-z])"),
    "*": re.compile(r"(?<![0-9A-Za-z])\*+|\*+(?![0-9A-Za-z*])"),
    "_": re.compile(r"(?<![0-9A-Za-z])_+|_+(?![0-9A-Za-z_])"),
    "`": re.compile(r"`+"),
}
FOLLOWERS = TERMINATORS | CLOSERS | _CLAUSE_MARKS | PAIRED_MARKS | SPACES
"""Characters after a terminator that make a closer look necessary."""

type Titles = tuple[tuple[str, str], ...]

# How far back on the line quotes are paired, and how long a title may be: unbalanced marks do no harm farther on.
_PAIRING_WINDOW = 300
_LONGEST_TITLE = 80
_TITLE_MARKS = (("《", "》"), ("〈", "〉"))


def run_end(text: str, first: int) -> tuple[int, int]:
    """Follow the run of terminators at ``first`` with its closing marks, and runs that follow these directly.

    Returns:
        End of the run's first stretch of terminators, and end of everything that belongs to the sentence.
    """
    after = _after_terminators(text, first)
    tail = _after_closing_marks(text, after)
    while text[tail] in TERMINATORS:
        tail = _after_closing_marks(text, _after_terminators(text, tail))
    return after, tail


def ends_sentence(text: str, first: int, after: int, tail: int, titles: Titles) -> bool:
    """Whether a sentence ends with the run ``text[first:after]`` and its closing marks up to ``tail``."""
    if text[tail] in _CLAUSE_MARKS or _is_mentioned(text, first, after) or in_title(text, first, titles):
        return False
    run = text[first:tail]
    if not STRONG.isdisjoint(run) or "……" in run:
        return True
    return ascii_run_ends(text, first, after, tail)


def title_marks(text: str) -> Titles:
    """The title marks that a text uses."""
    return tuple(pair for pair in _TITLE_MARKS if pair[0] in text and pair[1] in text)


def in_title(text: str, position: int, titles: Titles) -> bool:
    """Inside 《…》 or 〈…〉 that closes on the same line, within 80 characters and before another one opens."""
    floor = position - _LONGEST_TITLE if position > _LONGEST_TITLE else 0
    for opener, closer in titles:
        opened = text.rfind(opener, floor, position)
        if opened < 0 or text.rfind(closer, opened, position) >= 0:
            continue
        closed = text.find(closer, position, opened + _LONGEST_TITLE)
        if closed > 0 and opener not in text[position:closed] and len(text[opened:closed].splitlines()) == 1:
            return True
    return False


def _after_terminators(text: str, position: int) -> int:
    while text[position] in TERMINATORS:
        position += 1
    return position


def _after_closing_marks(text: str, position: int) -> int:
    while True:
        character = text[position]
        if character in CLOSERS:
            position += 1
        elif character in PAIRED_MARKS and _is_open(text, character, position):
            while text[position] == character:
                position += 1
        elif character in SPACES and text[position + 1] in _WIDE_CLOSERS:
            position += 2
        else:
            return position


def _is_open(text: str, mark: str, position: int) -> bool:
    """Whether an odd number of these marks stands before the position, on its line."""
    floor = max(0, position - _PAIRING_WINDOW)
    floor = max(floor, text.rfind("\n", floor, position))
    return len(_MARKS[mark].findall(text, floor, position)) % 2 == 1


def _is_mentioned(text: str, first: int, after: int) -> bool:
    """Nothing between an opening mark and the run: （？） and “。” are talked about, “……大风 leaves something out."""
    before = text[first - 1 : first]
    if before in PAIRED_MARKS:
        return before == text[after] and _is_open(text, before, first)
    return before in _OPENERS
