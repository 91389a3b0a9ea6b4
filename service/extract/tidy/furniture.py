"""Page furniture: headers, footers and page numbers that come back on most pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from service.extract.tidy.lines import Line

_ZONE = 3
"""How many lines at the top and at the bottom of a page can be furniture."""
_FEWEST_PAGES = 3
_MOST = 0.5
_DIGITS = re.compile(r"\d+")
_NUMBER_ONLY = re.compile(
    r"\W*(?:第|page|p\.?)?\W*#\W*(?:页|頁)?\W*(?:(?:/|共|of)?\W*#?\W*(?:页|頁)?)?\W*", re.IGNORECASE
)


def drop_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages without the lines that recur in the same zone of most pages, whatever the digits in them.

    A line of nothing but numbers goes only when its number counts with the pages. Needs three pages.
    """
    if len(pages) < _FEWEST_PAGES:
        return [list(page) for page in pages]
    keys = [[_key(line.text) for line in page] for page in pages]
    dropped: set[tuple[int, int]] = set()
    for zone in (_top, _bottom):
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for page_number, page in enumerate(keys):
            for index in zone(page):
                if page[index]:
                    places[page[index]].append((page_number, index))
        for key, found in places.items():
            if _recurs({page for page, _ in found}, len(pages)) and _may_go(key, found, pages):
                dropped.update(found)
    return [
        [line for index, line in enumerate(page) if (page_number, index) not in dropped]
        for page_number, page in enumerate(pages)
    ]


def _top(page: Sequence[str]) -> Iterable[int]:
    return range(min(_ZONE, len(page)))


def _bottom(page: Sequence[str]) -> Iterable[int]:
    return range(max(0, len(page) - _ZONE), len(page))


def _key(text: str) -> str:
    return _DIGITS.sub("#", "".join(text.split()))


def _recurs(on_pages: set[int], page_count: int) -> bool:
    """On more than half of all pages, or on nearly all odd or all even ones."""
    if len(on_pages) > _MOST * page_count:
        return True
    for remainder in (0, 1):
        same_side = range(remainder, page_count, 2)
        hits = sum(1 for page in same_side if page in on_pages)
        if len(same_side) >= _FEWEST_PAGES and hits >= 0.8 * len(same_side):
            return True
    return False


def _may_go(key: str, found: Sequence[tuple[int, int]], pages: Sequence[Sequence[Line]]) -> bool:
    if not _NUMBER_ONLY.fullmatch(key):
        return True
    offsets: Counter[int] = Counter()
    for page_number, index in found:
        numbers = _DIGITS.findall(pages[page_number][index].text)
        offsets.update({int(number) - page_number for number in numbers[:2] if len(number) < 9})
    return bool(offsets) and offsets.most_common(1)[0][1] > _MOST * len({page for page, _ in found})
