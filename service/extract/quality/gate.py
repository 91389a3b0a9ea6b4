"""Quality gate: is what was read worth keeping, and which pages are doubtful?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from service.errors import NoText
from service.extract.quality.plausible import plausibility
from service.extract.tidy.han import count_han
from service.types import ExtractedText, Notice, Page

_MEANINGLESS = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd\ufffd]")
_NOTED = 0.02
_REFUSED = 0.5
_DOUBTFUL = 0.35
"""Plausibility below which a text is likely mojibake; true texts of the sample files reach 0.85 and more."""
_SAMPLE = 20_000
_FEWEST_CHARACTERS = 20
_FEWEST_TO_COMPARE = 300
_LEAST_HAN = 0.01
_MOST_NOTICES = 50


def judge(extracted: ExtractedText) -> ExtractedText:
    """The same text with the warnings it deserves, those of pages with their numbers.

    Raises:
        NoText: nothing readable is in it.
    """
    solid, meaningless = _counts(extracted.text)
    if solid == 0:
        raise NoText("nothing readable was found in the file", media_type=extracted.media_type)
    if meaningless > _REFUSED * solid:
        raise NoText("the characters in this file have no known meaning", media_type=extracted.media_type)
    notices = [*extracted.warnings, *_of_pages(extracted)]
    if meaningless > _NOTED * solid and not any(notice.code == "unreadable_characters" for notice in notices):
        notices.append(_unreadable(meaningless, solid, None))
    notices.extend(_of_language(extracted))
    if plausibility(extracted.text[:_SAMPLE]) < _DOUBTFUL:
        notices.append(Notice("doubtful_text", "the characters do not look like a text that a person wrote"))
    return replace(extracted, warnings=tuple(notices))


def _of_pages(extracted: ExtractedText) -> Iterable[Notice]:
    """Notices of single pages; sheets and slides may be empty, pages of a PDF hardly are."""
    found: list[Notice] = []
    is_paged = extracted.media_type == "application/pdf"
    for page in extracted.pages if len(extracted.pages) > 1 else ():
        notice = _of_page(extracted.text[page.start : page.end], page, is_paged=is_paged)
        if notice:
            found.append(notice)
    return found[:_MOST_NOTICES]


def _of_page(text: str, page: Page, *, is_paged: bool) -> Notice | None:
    solid, meaningless = _counts(text)
    if solid == 0:
        return Notice("page_without_text", f"page {page.number} has no text", page.number) if is_paged else None
    if meaningless > _NOTED * solid:
        return _unreadable(meaningless, solid, page.number)
    if solid >= _FEWEST_CHARACTERS and plausibility(text[:_SAMPLE]) < _DOUBTFUL:
        return Notice("doubtful_text", f"the text of page {page.number} looks damaged", page.number)
    return None


def _of_language(extracted: ExtractedText) -> Iterable[Notice]:
    """A notice when the metadata promise Chinese and the text has none: a PDF font without its characters."""
    promised = str(extracted.metadata.get("language", "")).lower().startswith("zh")
    promised = promised or count_han(str(extracted.title or "")) >= 2
    solid, _ = _counts(extracted.text)
    if promised and solid >= _FEWEST_TO_COMPARE and count_han(extracted.text) < _LEAST_HAN * solid:
        yield Notice("no_chinese_text", "the metadata are Chinese, but the text has no Chinese characters")


def _counts(text: str) -> tuple[int, int]:
    """Characters that are not blank, and how many of all characters have no meaning."""
    return len("".join(text.split())), len(_MEANINGLESS.findall(text))


def _unreadable(meaningless: int, solid: int, page: int | None) -> Notice:
    where = "" if page is None else f" of page {page}"
    return Notice("unreadable_characters", f"{meaningless} of {solid} characters{where} have no known meaning", page)
