"""What stands in the way of a text that comes in pieces: thoughts, and characters cut in two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.answer.surrogates import Surrogates
from service.answer.thinking import WithoutThinking


def cut(text: str, data: st.DataObject) -> list[str]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def answered(pieces: list[str]) -> str:
    thinking = WithoutThinking()
    return "".join(map(thinking.feed, pieces)) + thinking.end()


@given(st.sampled_from(["", " \n"]), st.text("想</>\n", max_size=8), st.text("答<think>/ \n", max_size=20), st.data())
def test_a_thought_in_front_is_left_out_however_it_is_cut(
    blank: str, thought: str, answer: str, data: st.DataObject
) -> None:
    text = f"{blank}<think>{thought}</think>{answer}"
    expected = text.partition("</think>")[2].lstrip()
    assert answered(cut(text, data)).lstrip() == expected


@given(
    st.text("答<think>/ ", min_size=1, max_size=20).filter(lambda text: not text.lstrip().startswith("<think>")),
    st.data(),
)
def test_anything_else_stays(text: str, data: st.DataObject) -> None:
    assert answered(cut(text, data)).lstrip() == text.lstrip()


@pytest.mark.parametrize("text", ["<think>想个没完", "<think>", "", "  "])
def test_a_thought_without_end_is_no_answer(text: str) -> None:
    assert answered(list(text)) == ""


@given(st.text(max_size=20), st.data())
def test_characters_cut_in_two_are_joined(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    halves = "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2))
    surrogates = Surrogates()
    assert "".join(map(surrogates.feed, cut(halves, data))) + surrogates.end() == text


def test_a_half_without_its_other_becomes_a_mark() -> None:
    surrogates = Surrogates()
    assert surrogates.feed("\udc00甲\ud83d") + surrogates.feed("乙\ud83d") + surrogates.end() == "�甲�乙�"
