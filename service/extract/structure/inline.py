"""Text of inline markup: what a reader would see of an element, as one string."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from service.extract.tidy.han import HAN

_SKIPPED = frozenset(
    {"script", "style", "noscript", "template", "iframe", "object", "svg", "canvas", "audio", "video"}
    | {"button", "select", "textarea", "input", "rp", "rt"}
)
_LINE_BREAKS = frozenset({"br", "p", "div", "li", "tr", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "pre"})
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_WHITE_SPACE = re.compile(r"\s")
_HAN_BREAK = re.compile(rf"(?<=[{HAN}、。，；：！？”）》」』】])[ \t\r\f]*\n[ \t\r\n\f]*(?=[{HAN}“（《「『【])")
_BREAK = "\u2028"
"""Stands for a line break that is meant, while white space of the source is folded."""


@cache
def _local_name(tag: object) -> str:
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def name_of(element: Any) -> str:
    """Local name in lower case; empty for comments and processing instructions."""
    return _local_name(element.tag)


def is_skipped(element: Any) -> bool:
    """True for elements that a reader never sees as text."""
    return name_of(element) in _SKIPPED or not isinstance(element.tag, str)


def pieces(element: Any) -> Iterator[str]:
    """Strings of an element and all below it, without its tail; a line break that is meant is U+2028."""
    pending: list[tuple[Any, bool]] = [(element, False)]
    while pending:
        current, is_done = pending.pop()
        if is_done:
            if name_of(current) in _LINE_BREAKS:
                yield _BREAK
            if current is not element and current.tail:
                yield current.tail
            continue
        if is_skipped(current):
            if current is not element and current.tail:
                yield current.tail
            continue
        if name_of(current) in _LINE_BREAKS and name_of(current) != "br":
            yield _BREAK
        if current.text:
            yield current.text
        pending.append((current, True))
        pending.extend((child, False) for child in reversed(current))


def fold(text: str, *, keep_line_ends: bool) -> str:
    """Fold the white space of a source as a browser does; line breaks that are meant stay one line end each.

    A line end of the source between Han characters leaves nothing, elsewhere a blank. With ``keep_line_ends``
    every line end of the source is meant (Tika writes a line break of a Word or Excel file that way).
    """
    if keep_line_ends:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", _BREAK)
    else:
        text = _HAN_BREAK.sub("", text)
    lines = [_BLANKS.sub(" ", line).strip() for line in text.split(_BREAK)]
    return "\n".join(line for line in lines if line)


def text_of(element: Any, *, keep_line_ends: bool) -> str:
    """Folded text of an element and all below it."""
    if len(element) == 0 and not _WHITE_SPACE.search(element.text or ""):
        return element.text or ""
    return fold("".join(pieces(element)), keep_line_ends=keep_line_ends)
