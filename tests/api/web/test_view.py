"""What pages are made of: marked texts, numbers, moves, addresses."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.config import SearchSettings
from service.store.chunk_reader import StoredChild, StoredParent, Stretch
from service.web.view import formats
from service.web.view.asked import Asked
from service.web.view.drawn import TextPage, drawn, page_chips
from service.web.view.pieces import Mark, pieces

TEXTS = st.text(max_size=40)
SPANS = st.lists(st.tuples(st.integers(-5, 50), st.integers(-5, 50)), max_size=8)


@given(TEXTS, SPANS)
def test_pieces_are_the_text_and_each_mark_covers_exactly_its_span(text: str, spans: list[tuple[int, int]]) -> None:
    marks = [Mark(start, end, number) for number, (start, end) in enumerate(spans)]
    found = pieces(text, marks)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text and text[piece.start :].startswith(piece.text) for piece in found)
    for number, (start, end) in enumerate(spans):
        covered = "".join(piece.text for piece in found if number in piece.tags)
        expected = text[max(start, 0) : max(end, 0)] if start < end else ""
        assert covered == expected
        assert sum(number in piece.begins for piece in found) == bool(expected)


def test_sizes_durations_and_pages_are_short() -> None:
    assert [formats.size(count) for count in (0, 999, 1000, 1_500_000, 123_456_789)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.4 MB",
        "118 MB",
    ]
    assert [formats.duration(seconds) for seconds in (8, 240, 18_000, 400_000)] == ["8 s", "4 min", "5 h", "5 d"]
    assert [formats.page_range(*pages) for pages in ((None, None), (3, 3), (3, 5), (3, None))] == ["", "3", "3–5", "3"]
    assert [formats.signed(value, 3) for value in (0.12, -0.05, 0.0, -0.0001)] == ["+0.120", "−0.050", "0.000", "0.000"]
    assert (formats.number(None), formats.number(0.12345, 3), formats.number(1234)) == ("–", "0.123", "1,234")


def parent(ordinal: int, start: int, text: str) -> StoredParent:
    return StoredParent(uuid4(), ordinal, start, start + len(text), text, [], 1, 2, 1)


def test_each_page_begins_once_where_its_text_does() -> None:
    whole = "甲乙丙\n\n丁戊己庚辛"
    # the second parent repeats the end of the first; page 2 begins in what is repeated, page 3 in a child
    parents = [parent(0, 0, whole[:7]), parent(1, 5, whole[5:])]
    child = StoredChild(uuid4(), 0, parents[1].chunk_id, 1, 5, 10, whole[5:], 2, 3)
    stretch = Stretch(parents, [child], whole, 0, 0, 2, len(whole))
    pages = [TextPage(1, 0, 3, None), TextPage(2, 5, 8, None), TextPage(3, 8, 10, "封底")]
    first, second = drawn(stretch, pages)
    begun = [[(part.text, [page.number for page in part.pages]) for part in each.parts] for each in (first, second)]
    assert begun == [[("甲乙丙", [1]), ("\n\n", []), ("丁戊", [2])], [("丁戊己", []), ("庚辛", [3])]]
    assert all(part.children == [child] for part in second.parts)
    assert [part.begins for part in second.parts] == [[child], []]


def test_a_part_behind_the_start_of_its_page_does_not_begin_it_again() -> None:
    stretch = Stretch([parent(1, 5, "戊己庚")], [], "丁戊己庚", 4, 4, 2, 8)
    assert [part.pages for part in drawn(stretch, [TextPage(1, 0, 8, None)])[0].parts] == [[]]


@pytest.mark.parametrize(
    ("count", "current", "chips"),
    [
        (0, 0, []),
        (3, 1, [1, 2, 3]),
        (12, 9, list(range(1, 13))),
        (40, 1, [1, 2, 3, None, 40]),
        (40, 20, [1, None, 18, 19, 20, 21, 22, None, 40]),
        (40, 40, [1, None, 38, 39, 40]),
        (40, 900, [1, None, 40]),
    ],
)
def test_of_many_pages_both_ends_and_those_around_are_offered(
    count: int, current: int, chips: list[int | None]
) -> None:
    assert page_chips(count, current) == chips


def test_only_what_an_address_has_counts_as_given() -> None:
    asked = Asked.read({"q": "滤芯", "rrf_k": "9", "top_n": "", "vector_weight": "900"})
    sliders = {slider.name: slider for slider in asked.sliders(SearchSettings())}
    assert {name for name, slider in sliders.items() if slider.given} == {"rrf_k", "vector_weight"}
    assert (sliders["vector_weight"].value, sliders["vector_weight"].high) == (900, 900)
    assert (sliders["fts_weight"].value, sliders["fts_weight"].high) == (30, 100)
    assert sliders["top_n"].value == 5
    left = Asked.read({"a_rrf_k": "7", "rrf_k": "9"}, prefix="a_")
    assert left.fields == {"rrf_k": "7"}
