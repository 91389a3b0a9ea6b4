"""Normalised text keeps its origins, and terms are found however a text is written."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.query_terms import normalise, normalise_with_offsets, terms

# dense in what is hard: full and half width, ligatures, jamo, marks, compatibility and traditional characters
_HARD = st.text(
    st.sampled_from("aZéeＡｚ０㌀㍻ﬁ…ｶﾞﾊﾟ\u0301\u3099ᄒ\u1161\u11abㅎㅏㄴÅÅK\u212aẛſİıΣς機机乾⽤豈\uf900𠮷①½ '")
)
_ANY = st.text(st.characters(exclude_categories=["Cs"])) | _HARD


@given(_ANY)
@example("İ")
@example("ΑΣ ΑΣ")
def test_a_text_and_its_normal_form_are_the_same_to_a_search(text: str) -> None:
    normalised = normalise(text)
    assert normalise(normalised) == normalised
    assert normalise(unicodedata.normalize("NFKC", text)) == normalised
    assert normalise(unicodedata.normalize("NFD", text)) == normalised


@given(_ANY)
def test_offsets_name_the_character_each_one_comes_from(text: str) -> None:
    normalised, offsets = normalise_with_offsets(text)
    assert normalised == normalise(text)
    assert len(offsets) == len(normalised)
    assert list(offsets) == sorted(offsets)
    assert all(0 <= offset < len(text) for offset in offsets)
    # cut where a new character begins, the parts have the very same normal form
    starts = [at for at in range(len(offsets)) if at == 0 or offsets[at - 1] != offsets[at]]
    for begin, end in zip(starts, [*starts[1:], len(offsets)], strict=bool(starts)):
        last = offsets[end] if end < len(offsets) else len(text)
        assert normalise(text[offsets[begin] : last]) == normalised[begin:end]


@given(_ANY, _ANY)
def test_texts_apart_are_normalised_apart(left: str, right: str) -> None:
    assert normalise(f"{left}\n{right}") == f"{normalise(left)}\n{normalise(right)}"


def test_every_character_alone() -> None:
    """Each code point, among letters that compose with nothing."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    text = "\n".join(characters)
    normalised, offsets = normalise_with_offsets(text)
    assert len(normalised) == len(offsets)
    assert normalise(unicodedata.normalize("NFKC", text)) == normalised
    assert normalise(normalised) == normalised


@pytest.mark.parametrize(
    ("text", "normalised", "offsets"),
    [
        ("", "", []),
        ("ABC", "abc", [0, 1, 2]),
        ("機器學習", "机器学习", [0, 1, 2, 3]),
        ("ＡＰＩ，", "api,", [0, 1, 2, 3]),
        ("x㌀y", "xアパートy", [0, 1, 1, 1, 1, 2]),
        ("oﬃce", "office", [0, 1, 1, 1, 2, 3]),
        ("e\u0301x", "éx", [0, 2]),
        ("ｶﾞス", "ガス", [0, 2]),
        ("⽤⼾", "用户", [0, 1]),
        ("等等……", "等等......", [0, 1, 2, 2, 2, 3, 3, 3]),
    ],
)
def test_positions(text: str, normalised: str, offsets: list[int]) -> None:
    found, positions = normalise_with_offsets(text)
    assert (found, list(positions)) == (normalised, offsets)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("？！ \n——", []),
        ("机器学习", ["机器", "器学", "学习"]),
        ("機器", ["机器"]),
        ("《人》与C", ["人", "与", "c"]),
        ("C++和C#，C", ["c++", "和", "c#", "c"]),
        ("ＰｙｔｈｏｎＡＰＩ使用指南2024", ["pythonapi", "使用", "用指", "指南", "2024"]),
        ("AX-200 v2.3.1", ["ax", "200", "v2", "3", "1"]),
        ("li.lei@example.com_x", ["li", "lei", "example", "com", "x"]),
        ("été Привет", ["été", "привет"]),
        ("A人B", ["a", "人", "b"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(_ANY)
def test_terms_do_not_hang_on_how_a_text_is_written(text: str) -> None:
    assert terms(text) == terms(normalise(text)) == terms(unicodedata.normalize("NFKC", text))
    assert all(term and not term.isspace() for term in terms(text))


@given(_ANY, _ANY)
def test_terms_of_a_text_are_those_of_its_parts(left: str, right: str) -> None:
    assert Counter(terms(f"{left}\n{right}")) == Counter(terms(left)) + Counter(terms(right))
