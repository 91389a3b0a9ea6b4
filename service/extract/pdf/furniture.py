"""Page furniture: headers, footers and page numbers that come back on most pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from service.extract.pdf.lines import Line

_ZONE = 3
"""How many lines at the top and at the bottom of a page can be furniture."""
_FEWEST_PAGES = 3
_MOST = 0.5
_NEARLY_ALL = 0.8
_LONGEST_NUMBER = 6
_LONGEST_FURNITURE = 60
"""Characters of one page; more that recurs, and is all there is on the page, is a form or a label."""
_LONGEST_STAMP = 24
"""The same in a document that would be left empty: what a scanner program writes on its pages."""
_DIGITS = re.compile(r"\d+")
_NUMBER_ONLY = re.compile(
    r"\W*(?:第|page|p\.?)?\W*#\W*(?:页|頁)?\W*(?:(?:/|共|of)?\W*#?\W*(?:页|頁)?)?\W*", re.IGNORECASE
)


def drop_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages without the lines that recur at the same end of most pages. Needs three pages.

    The same text may stand anywhere in the outer three lines; so may a line of nothing but a number that counts with
    the pages. A text with such a number in it must be the outermost line. A page that would be left empty keeps its
    lines, unless they are as short as furniture is: equal pages are no reason to lose them.
    """
    if len(pages) < _FEWEST_PAGES:
        return [list(page) for page in pages]
    dropped: set[tuple[int, int]] = set()
    for zone in (_top, _bottom):
        same: dict[str, list[tuple[int, int]]] = defaultdict(list)
        counting: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for page_number, page in enumerate(pages):
            for index in zone(page):
                text = "".join(page[index].text.split())
                key = _DIGITS.sub("#", text)
                if not _NUMBER_ONLY.fullmatch(key):
                    same[text].append((page_number, index))
                if key != text and (_NUMBER_ONLY.fullmatch(key) or index in {0, len(page) - 1}):
                    counting[key].append((page_number, index))
        for found in same.values():
            if _recurs(found, len(pages)):
                dropped.update(found)
        for found in counting.values():
            if _recurs(found, len(pages)) and _counts_pages(found, pages):
                dropped.update(found)
    rest = [
        [line for index, line in enumerate(page) if (page_number, index) not in dropped]
        for page_number, page in enumerate(pages)
    ]
    longest = _LONGEST_FURNITURE if any(rest) else _LONGEST_STAMP
    return [left or (list(page) if _length(page) > longest else []) for left, page in zip(rest, pages, strict=True)]


def _length(page: Sequence[Line]) -> int:
    """Characters of a page that are not blank."""
    return sum(len("".join(line.text.split())) for line in page)


def _top(page: Sequence[Line]) -> Iterable[int]:
    return range(min(_ZONE, len(page)))


def _bottom(page: Sequence[Line]) -> Iterable[int]:
    return range(max(0, len(page) - _ZONE), len(page))


def _recurs(found: Sequence[tuple[int, int]], page_count: int) -> bool:
    """On more than half of all pages, or on nearly all odd or all even ones."""
    on_pages = {page for page, _ in found}
    if len(on_pages) > _MOST * page_count:
        return True
    for remainder in (0, 1):
        same_side = range(remainder, page_count, 2)
        hits = sum(1 for page in same_side if page in on_pages)
        if len(same_side) >= _FEWEST_PAGES and hits >= _NEARLY_ALL * len(same_side):
            return True
    return False


def _counts_pages(found: Sequence[tuple[int, int]], pages: Sequence[Sequence[Line]]) -> bool:
    """True when a number in the line grows by one from page to page, on most of the pages that have the line."""
    offsets: Counter[int] = Counter()
    for page_number, index in found:
        numbers = _DIGITS.findall(pages[page_number][index].text)
        offsets.update({int(number) - page_number for number in numbers if len(number) <= _LONGEST_NUMBER})
    return bool(offsets) and offsets.most_common(1)[0][1] > _MOST * len({page for page, _ in found})
