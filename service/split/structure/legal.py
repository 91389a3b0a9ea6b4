"""Headings of Chinese legal texts: 第…编, 章, 节, 条, 款 at the start of a line.

"第三条规定的情形" inside a sentence, or at the start of one, is a reference and no heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from service.split.characters import LINE_BREAKS, SPACES

_LABEL = re.compile(
    r"第[ \u3000]?(?P<number>[零〇○一二两三四五六七八九十百千]{1,9}|[0-9０-９]{1,4})[ \u3000]?"
    r"(?P<kind>部分|分编|编|篇|章|节|条|款)(?:之[一二三四五六七八九十]{1,3})?"
)
_LEVELS = {"部分": 11, "编": 11, "篇": 11, "分编": 12, "章": 13, "节": 14, "条": 15, "款": 16}
ARTICLE_LEVEL = _LEVELS["条"]
"""All legal levels are deeper than the six of Markdown: a title above them may be a Markdown heading."""

_LINE_END = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|(?!.)")
_REFERENCE = re.compile(r"规定[的，。、]|所[列称述]|[至和与及或、，]第|或者第|以及第|[、，,]|的")
_LOOSE_REFERENCE = re.compile(r"[规所的至和与或及、，,中之以项款条内后前]")
_SENTENCE_MARK = re.compile(r"[。，；！？,;!?]")
_OPENS_TITLE = frozenset("【（(《：:")
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LONGEST_TITLE = 40


@dataclass(frozen=True, slots=True)
class LegalLabel:
    """A label such as 第三条 at the start of a line; ``line_end`` when it and its title fill the line, else None."""

    start: int
    line_end: int | None
    level: int
    label: str


def legal_labels(text: str) -> Iterator[LegalLabel]:
    """All labels, in order; the lines of a table of contents are among them."""
    previous: dict[str, int] = {}
    for match in _LABEL.finditer(text):
        start = _line_start(text, match.start())
        if start is None:
            continue
        number, kind = _value(match["number"]), match["kind"]
        label = _label(text, start, match, follows=number in (1, previous.get(kind, 0) + 1))
        if label:
            previous[kind] = number
            yield label


def _line_start(text: str, position: int) -> int | None:
    """Start of the line when only blanks and emphasis marks stand before the position on it."""
    while position > 0 and (text[position - 1] in SPACES or text[position - 1] == "*"):
        position -= 1
    return position if position == 0 or text[position - 1] in LINE_BREAKS else None


def _label(text: str, start: int, match: re.Match[str], *, follows: bool) -> LegalLabel | None:
    label_end = match.end()
    while text[label_end : label_end + 1] == "*":
        label_end += 1
    line_end = _LINE_END.search(text, label_end, label_end + 2 * _LONGEST_TITLE)  # more is running text anyway
    rest = text[label_end : line_end.start() if line_end else label_end + _LONGEST_TITLE]
    title = rest.strip()
    separated = not rest or rest[0] in SPACES or rest[0] in _OPENS_TITLE
    whole_line = (
        line_end is not None
        and len(title) <= _LONGEST_TITLE
        and not _SENTENCE_MARK.search(title)
        and not title.endswith(("：", ":"))
    )
    if separated:
        accepted = not _REFERENCE.match(title)
    else:  # 第一章总则, 第二条为了…: only where the numbers count on, and what follows is no reference
        accepted = follows and not _LOOSE_REFERENCE.match(title) and (whole_line or match["kind"] == "条")
    if not accepted:
        return None
    label = "".join(match.group().split())
    return LegalLabel(start, line_end.start() if line_end and whole_line else None, _LEVELS[match["kind"]], label)


def _value(number: str) -> int:
    if number[0] not in _DIGITS and number[0] not in _UNITS:
        return int(number)
    total = digit = 0
    for character in number:
        if character in _UNITS:
            total += (digit or 1) * _UNITS[character]
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[character]
    return total + digit
