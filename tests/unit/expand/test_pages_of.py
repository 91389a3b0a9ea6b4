"""The pages that a passage tells for a part of itself always hold it, and are few where its hits tell."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from service.types import Candidate, Hit, Passage
from tests.unit.answer.made import passage

_CONTENT = "页" * 400
_START = 1000
_END = _START + len(_CONTENT)

spans = st.tuples(st.integers(_START, _END - 1), st.integers(1, 120)).map(lambda s: (s[0], min(s[0] + s[1], _END)))
breaks = st.lists(st.integers(_START + 1, _END - 1), max_size=4, unique=True).map(sorted)


def pages(span: tuple[int, int], page_breaks: list[int]) -> tuple[int, int]:
    """First and last page of a span, where a new page begins at each break; the passage begins on page 7."""
    return 7 + sum(at <= span[0] for at in page_breaks), 7 + sum(at < span[1] for at in page_breaks)


def made(hits: list[tuple[int, int]], page_breaks: list[int]) -> Passage:
    first_page, last_page = pages((_START, _END), page_breaks)
    candidate = Candidate(1, 1, 1, 0.1, None, None, 1.0)
    found = []
    for number, span in enumerate(hits):
        first, last = pages(span, page_breaks)
        found.append(Hit(UUID(int=number), *span, candidate, first_page=first, last_page=last))
    return passage(_CONTENT, start=_START, first_page=first_page, last_page=last_page, hits=tuple(found))


@given(st.lists(spans, max_size=6), spans, breaks)
def test_the_pages_hold_the_span(hits: list[tuple[int, int]], span: tuple[int, int], page_breaks: list[int]) -> None:
    first, last = pages(span, page_breaks)
    told_first, told_last = made(hits, page_breaks).pages_of(*span)
    assert told_first is not None
    assert told_last is not None
    assert told_first <= first <= last <= told_last


def test_hits_before_around_and_behind_narrow_the_pages() -> None:
    page_breaks = [_START + 100, _START + 200, _START + 300]
    sentence = (_START + 110, _START + 130)
    assert made([], page_breaks).pages_of(*sentence) == (7, 10)
    assert made([(_START + 105, _START + 150)], page_breaks).pages_of(*sentence) == (8, 8)
    assert made([(_START + 80, _START + 110), (_START + 150, _START + 210)], page_breaks).pages_of(*sentence) == (8, 8)


def test_pages_that_nobody_knows_stay_unknown() -> None:
    assert passage(_CONTENT).pages_of(0, 10) == (None, None)
