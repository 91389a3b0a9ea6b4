"""Where sentences end, and where they must not."""

from __future__ import annotations

import pytest

from service.errors import InvalidSettings
from service.split import split_sentences
from tests.unit.split import sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["第一句。", "第二句！", "第三句？", "第四句；", "第五句……", "没有句号"],
        ["真的吗？！", "太好了！！！", "走吧。。。", "好的。"],
        ["他沉默了……", "然后离开。"],
        ["等等...", "再说。"],
        ["真的吗?", "太好了!", "走吧;", "好"],
        ["真的吗?", "OK,走吧!", "Bye"],
        ["太好了！", "😀下一句。"],
        ["「他说：『走吧。』」", "她走了。"],
        ["“你好！”", "他说，“走吧。”"],
        ["他问：“为什么？”", "“因为。”"],
        ["半角句号｡", "竖排也算︒", "好‼", "好"],
    ],
)
def test_terminators_and_their_runs_end_a_sentence(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["他说：“我们走吧。”", "她没有动。"],
        ["「好吗？」", "他问。"],
        ["（详见附录。）", "然后"],
        ["诗曰：“……大风起兮。”", "云飞扬"],
        ["他说:\"走吧!\"", "她走了。", '"来吧!"', "她说。"],
        ["“第一句。", "第二句！”", "他说"],
        ["**注意！**", "请看"],
        ["他说：“（真的吗？）”", "走了"],
        ["他说：“好！”。", "走了"],
        ['"a"。', '"b"'],
    ],
)  # fmt: skip
def test_closing_marks_belong_to_the_sentence_they_close(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "我们明天去看《加油！少年》好吗？",
        "他喊“救命！”，然后跑了。",
        "他来自（？）地区。",
        "句号“。”表示结束。",
        "详见https://example.com/a?b=1;c=2.5。",
        "见https://example.com/查?词=一",
        "版本3.14和v2.0.1发布",
        "if a != b; then",
        "for(i=0;i<n;i++)",
        "甲&nbsp;乙&amp; 丙",
        "嗯…我想",
        "见https://example.com/查?a=1",
        "调用查询;",
        "图1. 结构图",
        '句号"。"表示结束。',
        "值:a?b:c;d",
        "调用fn(...args)和a..b",
        "see example.com/a.html and www.example.org!",
    ],
)
def test_these_are_one_sentence(text: str) -> None:
    expected = [text] if not text.startswith("if") else ["if a != b;", "then"]
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["Mr. Smith met Dr. J. K. Rowling vs. Prof. Li in Washington D.C. yesterday.", "He left."],
        ["Use tools, e.g. No. 5 or i.e. Fig. 3 etc. and so on!", "Really?", "Yes;", "ok."],
        ["Version 2.0.", "Next."],
        ["She is a Ph.D. student of the U.S. school (approx. 20 km, etc.) in town.", "He is not."],
        ["It costs 3.50 at example.com.", "Then (see below.)", 'He said "Yes."', "Then"],
        ["No.", "I do not."],
        ["Don't say 'no!'", "to me.", "It's done.", "Next"],
        ["End of 2019.", "Done"],
        ["中文句子结束. ", "下一句"],
    ],
)
def test_full_stops_in_latin_text(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == [sentence.strip() for sentence in expected]


@pytest.mark.parametrize("marker", ["1.", "12.", "1.2.", "a.", "iv.", "一.", "(3."])
def test_a_list_number_stays_with_its_item(marker: str) -> None:
    assert sentences(f"步骤：\n{marker} 打开电源\n{marker} 关闭") == ["步骤：", f"{marker} 打开电源", f"{marker} 关闭"]


def test_numbers_inside_a_line_do_not_cut_it() -> None:
    assert sentences("1. 打开 2. 关闭。") == ["1. 打开 2. 关闭。"]


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n", "\n\n", "\u2028", "\u2029", "\x85", "\x0c", " \n\t\n "])
def test_every_kind_of_line_break_ends_a_sentence(line_break: str) -> None:
    assert sentences(f"第一行{line_break}第二行") == ["第一行", "第二行"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("《没有闭合！的书名。下一句", ["《没有闭合！", "的书名。", "下一句"]),
        ("“没有闭合。下一句。", ["“没有闭合。", "下一句。"]),
        ("没有打开。”下一句。", ["没有打开。”", "下一句。"]),
        ("《" + "长" * 90 + "！》下一句", ["《" + "长" * 90 + "！》", "下一句"]),
        ("《跨行！\n的书名》好。", ["《跨行！", "的书名》好。"]),
    ],
)
def test_unbalanced_marks_hide_no_ends(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("走吧。 ！！ 好", ["走吧。 ！！", "好"]),
        ("。。。好的。", ["。。。好的。"]),
        ("。", ["。"]),
        ("好。\n！！\n走", ["好。", "！！", "走"]),
        ("走。 ”她", ["走。 ”", "她"]),
    ],
)
def test_marks_alone_join_their_neighbour(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_white_space_is_outside() -> None:
    text = " \u3000前。\u3000 后\u00a0 \n\t"
    assert split_sentences(text) == [(2, 4), (6, 7)]
    assert split_sentences("") == split_sentences(" \n\u3000") == []


def test_too_long_sentences_are_cut_at_clauses_then_blanks_then_clusters() -> None:
    clauses = "甲" * 30 + "，" + "乙" * 30 + "、" + "丙" * 30 + "。"
    assert sentences(clauses, 40) == ["甲" * 30 + "，", "乙" * 30 + "、", "丙" * 30 + "。"]
    assert sentences(clauses, 91 + 2) == [clauses]
    assert sentences("one two three four five six", 10) == ["one two", "three four", "five six"]
    assert sentences("测" * 100, 40) == ["测" * 34, "测" * 33, "测" * 33]
    assert sentences("1,000,000元整" * 3, 12) == ["1,000,000元整"] * 3


@pytest.mark.parametrize("cluster", ["é", "👨\u200d👩\u200d👧\u200d👦", "🇨🇳", "👍🏽", "한", "क्षि", "葛\U000e0100"])
def test_no_cut_inside_a_visible_character(cluster: str) -> None:
    pieces = sentences(cluster * 50, 12)
    assert "".join(pieces) == cluster * 50
    assert all(len(piece) <= 12 and len(piece) % len(cluster) == 0 for piece in pieces)


def test_a_cluster_longer_than_the_limit() -> None:
    zalgo = "a" + "\u0301" * 40
    assert sentences(zalgo * 3, 10) == [zalgo] * 3
    assert max(map(len, sentences("a" + "\u0301" * 1000, 100))) <= 100


def test_an_impossible_limit_is_refused() -> None:
    with pytest.raises(InvalidSettings):
        split_sentences("字", 0)
