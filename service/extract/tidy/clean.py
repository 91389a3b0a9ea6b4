"""Cleaning: characters that no text may hold leave, everything else stays as it is.

Each rule is a pure function; text without the characters of a rule comes back unchanged.
"""

from __future__ import annotations

import re

_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u180e\u200b-\u200d\u2028\u2029\u2060-\u2064\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
"""Everything that any rule touches: one look decides for nearly every text."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_INVISIBLE = re.compile("[\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb]")
# U+200C and U+200D serve Persian, Indic scripts and emoji, elsewhere they are rubbish.
_JOINERS = re.compile("[\u200c\u200d]+")
_LINE_ENDS = re.compile("\r\n?|\u0085|\u2028|\u2029")
_NEEDS_JOINER = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff"  # Arabic, Indic, Burmese, Khmer
    "\ufe0f\u20e3\u2190-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"  # emoji and their selectors
)


def remove_surrogates(text: str) -> str:
    """Unpaired surrogates leave; a pair that came in two halves becomes its character."""
    if not _SURROGATES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def remove_controls(text: str) -> str:
    """NUL and the other C0 and C1 controls leave, except tab and line ends; a form feed ends a line."""
    return _CONTROLS.sub("", text.replace("\f", "\n").replace("\v", "\n"))


def remove_invisible(text: str) -> str:
    """Byte order marks, soft hyphens, zero-width blanks and word joiners leave."""
    return _INVISIBLE.sub("", text)


def remove_stray_joiners(text: str) -> str:
    """Zero-width joiners and non-joiners leave unless they stand between characters that need them (emoji, Persian)."""

    def kept(match: re.Match[str]) -> str:
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        is_needed = before and after and _NEEDS_JOINER.match(before) and _NEEDS_JOINER.match(after)
        return match.group()[0] if is_needed else ""

    return _JOINERS.sub(kept, text)


def unify_line_ends(text: str) -> str:
    """Every line end becomes one line feed."""
    return _LINE_ENDS.sub("\n", text)


def clean(text: str) -> str:
    """All rules. Idempotent; the result can be stored in PostgreSQL."""
    if not _SUSPECT.search(text):
        return text
    text = remove_surrogates(text)
    text = unify_line_ends(text)
    text = remove_controls(text)
    text = remove_invisible(text)
    return remove_stray_joiners(text)
