"""What pages are made of: marked texts, numbers, moves, addresses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.config import SearchSettings
from service.web.view import formats
from service.web.view.asked import Asked
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


def test_only_what_an_address_has_counts_as_given() -> None:
    asked = Asked.read({"q": "滤芯", "rrf_k": "9", "top_n": "", "vector_weight": "900"})
    sliders = {slider.name: slider for slider in asked.sliders(SearchSettings())}
    assert {name for name, slider in sliders.items() if slider.given} == {"rrf_k", "vector_weight"}
    assert (sliders["vector_weight"].value, sliders["vector_weight"].high) == (900, 900)
    assert (sliders["fts_weight"].value, sliders["fts_weight"].high) == (30, 100)
    assert sliders["top_n"].value == sliders["top_n"].default == 5
    left = Asked.read({"a_rrf_k": "7", "rrf_k": "9"}, prefix="a_")
    assert left.fields == {"rrf_k": "7"}
