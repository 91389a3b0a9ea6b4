"""Numbers in brackets become the passages they name, and only those."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.answer import citations_of
from tests.unit.answer.made import numbered, passage

PASSAGES = numbered(passage("甲", start=10), passage("乙", start=20), passage("丙", start=30))


@pytest.mark.parametrize(
    ("text", "found", "unknown"),
    [
        ("先切断电源[1]。", [1], ()),
        ("先切断电源【2】，再更换［1］。", [2, 1], ()),
        ("两处都说[1, 3]；又见[3][^2]。", [1, 3, 2], ()),
        ("中文逗号[1，2、3]", [1, 2, 3], ()),
        ("没有这一段[4]，也没有[0]和[99]，只有[2]", [2], (4, 0, 99)),
        ("[一] [] [1a] [12345] 1] [1", [], ()),
        ("", [], ()),
    ],
)
def test_what_models_write_is_understood(text: str, found: list[int], unknown: tuple[int, ...]) -> None:
    citations, unknown_numbers = citations_of(text, PASSAGES)
    assert ([citation.number for citation in citations], unknown_numbers) == (found, unknown)


def test_a_citation_has_the_place_of_its_passage_and_its_own_places() -> None:
    text = "电源[2]，滤芯[1][2]。"
    (second, first), _ = citations_of(text, PASSAGES)
    assert [text[start:end] for start, end in second.mentions] == ["[2]", "[2]"]
    assert (second.start, second.end, first.start) == (20, 21, 10)


@given(st.text(alphabet="[]【】,，0123456789^ 电", max_size=60))
def test_every_mention_is_a_bracket_with_its_number_and_no_number_is_both(text: str) -> None:
    citations, unknown = citations_of(text, PASSAGES)
    numbers = [citation.number for citation in citations]
    assert len({*numbers, *unknown}) == len(numbers) + len(unknown)
    for citation in citations:
        assert all(str(citation.number) in text[start:end] for start, end in citation.mentions)
