"""What a reader sees marked: the query's words, whole, however they are written."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.expand.highlights import Highlighter
from service.query_terms import normalise


def marked(query: str, content: str) -> list[str]:
    return [content[start:end] for start, end in Highlighter(query).spans(content)]


@pytest.mark.parametrize(
    ("query", "content", "found"),
    [
        ("数据 数据库", "数据库与数据", ["数据库", "数据"]),
        ("保修期多长", "本机的保修期为两年", ["保修期"]),
        ("市长江大桥", "南京市长江大桥，和长江", ["市长江大桥", "长江"]),
        ("住宿费的上限是多少？", "住宿费上限，多少都有；费的是", ["住宿费上限"]),
        ("合同的违约金", "按合同的违约金支付，合同另有约定", ["合同的违约金", "合同"]),
        ("申请人应当如何提交", "申请人应当提交；可以如何", ["申请人应当提交"]),
        ("問題存在嗎", "问题存在，另存在", ["问题存在"]),
    ],
)
def test_chinese_is_marked_in_runs_that_the_query_has(query: str, content: str, found: list[str]) -> None:
    assert marked(query, content) == found


@pytest.mark.parametrize(
    ("query", "content", "found"),
    [
        ("zx-4410 的价格", "型号ZX-4410，价格见附表", ["ZX-4410", "价格"]),
        ("AX-200B", "AX-200B 不是 AX-300B，AX-200BC 也不是", ["AX-200B"]),
        ("AX-200B", "型号 AX 200B，单位 b", ["AX", "200B"]),
        ("C++ 教程", "C++与C#教程，C 也有", ["C++", "教程"]),
        ("c 语言", "C++、C# 和 C 语言", ["C 语言"]),
        ("AI", "AI训练，不是TRAIN", ["AI"]),
        ("张三 a.b@example.cn", "联系 a.b@example.cn。example 不行", ["a.b@example.cn"]),
        ("v2.3", "v2.3 与 v2.31", ["v2.3"]),
        ("3% 的税", "税率 3%，33%", ["3%"]),
        ("1998年 500元", "1998年，500 元，2998年", ["1998年", "500"]),
        ("machine learning", "Machine Learning, learning machine", ["Machine Learning", "learning", "machine"]),
        ("what is the warranty", "The warranty is long", ["warranty"]),
        ("Straße", "STRASSE und Straße", ["Straße"]),
        ("max_top_n", "max_top_n=5, top", ["max_top_n"]),
    ],
)
def test_words_with_blanks_between_them_are_marked_whole(query: str, content: str, found: list[str]) -> None:
    assert marked(query, content) == found


@pytest.mark.parametrize(
    ("query", "content", "found"),
    [
        ("ＡＰＰ登录", "APP 登录", ["APP", "登录"]),
        ("app登录", "ＡＰＰ登錄", ["ＡＰＰ登錄"]),
        ("机器学习", "機器學習", ["機器學習"]),
        ("office file", "oﬃce ﬁle", ["oﬃce ﬁle"]),
        ("平成三年", "㍻三年", ["㍻三年"]),
        ("成三", "㍻三年", []),  # half of a character is none
        ("cafe\u0301", "Café!", ["Café"]),
        ("café", "x cafe\u0301!", ["cafe\u0301"]),
        ("电子用品", "⽤品", ["⽤品"]),
    ],
)
def test_the_way_of_writing_does_not_matter(query: str, content: str, found: list[str]) -> None:
    assert marked(query, content) == found


@pytest.mark.parametrize(
    ("query", "content", "found"),
    [
        ("的", "他的书", ["的"]),
        ("什么是", "是的", ["是"]),
        ("the", "The end", ["The"]),
        ("猫", "猫的粮", ["猫"]),
        ("猫的粮食", "的猫", []),
        ("猫 粮食", "猫的粮食", ["猫", "粮食"]),
        ("E27 猫", "猫报警 E27", ["猫", "E27"]),
        ("？！", "什么？！", []),
        ("水", "", []),
    ],
)
def test_small_words_count_only_when_there_is_nothing_else(query: str, content: str, found: list[str]) -> None:
    assert marked(query, content) == found


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    st.sampled_from("的是数据库據庫a aB1２-+#Ａ.ﬁ㍻平成年é\u0301カﾞ가，"), max_size=40
)


@given(_TEXTS, _TEXTS)
@example("数据的库", "数据的库的据库")
@example("a年", "a年a年年")
def test_spans_are_inside_ordered_apart_and_of_the_query(query: str, content: str) -> None:
    spans = Highlighter(query).spans(content)
    assert all(0 <= start < end <= len(content) for start, end in spans)
    assert all(left[1] < right[0] for left, right in itertools.pairwise(spans))
    asked = normalise(query)
    for start, end in spans:
        piece = normalise(content[start:end])
        covered = set[int]()
        for first, last in itertools.combinations(range(len(piece) + 1), 2):
            if piece[first:last] in asked:
                covered.update(range(first, last))
        assert covered == set(range(len(piece)))


@given(_TEXTS, _TEXTS, _TEXTS)
@example("", "\u3099", "")
def test_the_query_itself_is_marked_wherever_it_stands(before: str, query: str, after: str) -> None:
    query = f"，{query}"  # a mark at its beginning would belong to what stands before
    content = f"{before}\n{query}\n{after}"
    inside = {at for start, end in Highlighter(query).spans(content) for at in range(start, end)}
    alone = {at + len(before) + 1 for start, end in Highlighter(query).spans(query) for at in range(start, end)}
    assert alone <= inside


@given(_TEXTS, _TEXTS)
def test_what_is_marked_is_marked_as_a_whole_again(query: str, content: str) -> None:
    highlighter = Highlighter(query)
    for start, end in highlighter.spans(content):
        piece = content[start:end]
        assert highlighter.spans(piece) == ((0, len(piece)),)
