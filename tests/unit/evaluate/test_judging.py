"""Which passages count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluate.figures.judging import Judge
from service.evaluate.read.records import Question


def judge(*, documents: tuple[str, ...] = (), answers: tuple[str, ...] = ()) -> Judge:
    return Judge(Question("q", "?", documents, answers))


@pytest.mark.parametrize(
    ("source", "content", "counts"),
    [
        ("law", "第五十九条 注册商标", True),
        ("law", "第五十\n九条　注册 商标 中", True),
        ("law", "第五十八条 注册商标", False),
        ("other", "第五十九条 注册商标", False),
    ],
)
def test_document_and_answer_must_both_fit(source: str, content: str, counts: bool) -> None:
    assert judge(documents=("law",), answers=("无", "第五十九条 注册商标")).counts(source, content) is counts


def test_without_documents_any_source_will_do() -> None:
    assert judge(answers=("三年",)).counts("anything", "保修 三 年")


def test_without_answers_the_first_passage_of_each_document_counts() -> None:
    passages = [("b", "1"), ("a", "2"), ("a", "3"), ("c", "4"), ("b", "5")]
    assert judge(documents=("a", "b")).credit(passages) == [True, True, False, False, False]


def test_with_answers_every_passage_that_holds_one_counts() -> None:
    assert judge(documents=("a",), answers=("x",)).credit([("a", "x"), ("a", "y"), ("a", "xx")]) == [True, False, True]


@given(st.text(min_size=1).filter(lambda text: text.strip()), st.text(), st.text(), st.data())
def test_white_space_never_decides(answer: str, before: str, after: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(answer)))
    blank = data.draw(st.sampled_from([" ", "\n", "\u3000", "\t\r\n", "\u00a0"]))
    assert judge(answers=(answer,)).counts("any", before + answer[:place] + blank + answer[place:] + after)
