"""PDF lines: wraps, hyphens, furniture, gaps between Han characters; each rule before and after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.extract.pdf.furniture import drop_furniture
from service.extract.pdf.glyphs import unify_glyphs
from service.extract.pdf.han_gaps import close_all_gaps, close_gaps
from service.extract.pdf.join import Joiner
from service.extract.pdf.lines import Line, ends_sentence, is_tabular, starts_anew
from service.extract.pdf.reflow import reflow


def page(*texts: str, gap: bool = True) -> list[Line]:
    """Lines of one page, each its own layout paragraph or all in one; ``""`` stands for an empty line."""
    lines: list[Line] = []
    is_blank = False
    for text in texts:
        if text:
            lines.append(Line(text, after_gap=gap or not lines or is_blank, after_blank=is_blank))
        is_blank = not text
    return lines


def texts_of(*pages: list[Line]) -> list[str]:
    return [paragraph.text for paragraph in reflow(pages)]


_LONG = "公司董事会、监事会及董事、监事、高级管理人员保证季度报告内容的真"


def test_wrapped_han_lines_join_without_blank() -> None:
    assert texts_of(
        page(_LONG, "实、准确、完整，不存在虚假记载、误导性陈述或者重大遗漏，并承担个", "别和连带的法律责任。")
    ) == [_LONG + "实、准确、完整，不存在虚假记载、误导性陈述或者重大遗漏，并承担个别和连带的法律责任。"]


def test_short_line_ends_its_paragraph() -> None:
    assert texts_of(page(_LONG, "实。", "所有董事均已出席了审议本次季报的董事会会议。")) == [
        _LONG + "实。",
        "所有董事均已出席了审议本次季报的董事会会议。",
    ]


def test_full_line_that_ends_a_sentence_ends_its_paragraph() -> None:
    full = "公司董事会、监事会及董事、监事、高级管理人员保证季度报告的真实。"
    assert texts_of(page(full, "第二段的内容从这里开始，它和上面那一段说的完全不是同一件事情。")) == [
        full,
        "第二段的内容从这里开始，它和上面那一段说的完全不是同一件事情。",
    ]


@pytest.mark.parametrize(
    "opening",
    [
        "　　新段落缩进",
        "1、第一项",
        "2. 第二项",
        "（三）第三项",
        "一、大标题",
        "第二条 范围",
        "• 圆点",
        "- 短横",
        "①圈号",
        "3.2 小节",
    ],
)
def test_opening_of_an_item_never_joins(opening: str) -> None:
    assert len(texts_of(page(_LONG, opening + "的内容不接在上一行后面"))) == 2


@pytest.mark.parametrize("continuation", ["2018年的报告", "3.5亿元的收入", "10名股东", "第三方的说明", "一方当事人"])
def test_number_inside_a_sentence_joins(continuation: str) -> None:
    assert len(texts_of(page(_LONG, continuation + "说明了情况。"))) == 1


def test_latin_words_get_a_blank_and_hyphens_leave() -> None:
    lines = (
        "This is a sample document with two columns and adip-",
        "iscing elit that goes on and on until the line is full",
        "of words.",
    )
    assert texts_of(page(*lines, gap=False)) == [
        "This is a sample document with two columns and adipiscing elit that goes on and on until the line is full "
        "of words."
    ]


def test_hyphen_of_a_compound_known_to_the_document_stays() -> None:
    joiner = Joiner(["a state-of-the-art well-known method"])
    assert joiner.join("it is a well-", "known method") == "it is a well-known method"
    assert joiner.join("an inter-", "national method") == "an international method"
    assert joiner.join("pages 3-", "5 are missing") == "pages 3- 5 are missing"


def test_mixed_lines_follow_the_habit_of_the_document() -> None:
    assert Joiner(["支持 GBK 字符集"]).join("我们使用", "TiDB") == "我们使用 TiDB"
    assert Joiner(["支持GBK字符集"]).join("我们使用", "TiDB") == "我们使用TiDB"
    assert Joiner(["支持 GBK 字符集"]).join("使用它，", "TiDB") == "使用它，TiDB"


def test_rows_of_figures_stay_lines_of_one_paragraph() -> None:
    rows = ("营业收入（元） 4,755,785.11 5,699,227.63 -16.55%", "基本每股收益（元/股） -0.0053 -0.0178 70.22%")
    assert texts_of(page(*rows)) == ["\n".join(rows)]


def test_wrapped_cell_becomes_whole() -> None:
    rows = ("杨琴秀 境内自然人 3.20% 27,955,752", "北京海鸿源投资", "管理有限公司", "境内非国有法人 9.33% 81,494,850")
    assert texts_of(page(*rows)) == [
        "杨琴秀 境内自然人 3.20% 27,955,752\n北京海鸿源投资管理有限公司\n境内非国有法人 9.33% 81,494,850"
    ]


def test_paragraph_goes_on_over_the_page_end() -> None:
    first, second = page("　　" + _LONG, _LONG), page("实、准确、完整。", "　　下一段。")
    paragraphs = reflow([first, second])
    assert [paragraph.text for paragraph in paragraphs] == [_LONG + _LONG + "实、准确、完整。", "下一段。"]
    offset, number = paragraphs[0].page_starts[1]
    assert number == 1
    assert paragraphs[0].text[offset:] == "实、准确、完整。"


def test_empty_line_always_parts() -> None:
    assert len(texts_of(page(_LONG, "", "实、准确、完整。"))) == 2


def test_short_lines_of_a_title_page_stay_apart() -> None:
    assert texts_of(page("浅谈校长的魅力", "山西省闻喜县诚镇初中 李新录")) == [
        "浅谈校长的魅力",
        "山西省闻喜县诚镇初中 李新录",
    ]


@given(st.lists(st.lists(st.text("字a1。- \n", min_size=1, max_size=40).filter(str.strip), max_size=6), max_size=4))
def test_no_character_is_lost(pages: list[list[str]]) -> None:
    given_lines = [[Line(text.replace("\n", "")) for text in one if text.replace("\n", "").strip()] for one in pages]
    before = "".join(line.text for one in given_lines for line in one)
    after = "".join(texts_of(*given_lines))
    assert "".join(after.split()).replace("-", "") == "".join(before.split()).replace("-", "")


def _book(count: int, header: str = "某某公司内部资料") -> list[list[Line]]:
    return [
        page(header, f"第{number}章的正文第一行", f"第{number}章的正文第二行", f"第 {number} 页 共 {count} 页")
        for number in range(1, count + 1)
    ]


def test_headers_and_page_numbers_leave() -> None:
    assert [[line.text for line in one] for one in drop_furniture(_book(4))] == [
        [f"第{number}章的正文第一行", f"第{number}章的正文第二行"] for number in range(1, 5)
    ]


def test_two_pages_are_not_enough_to_tell() -> None:
    book = _book(2)
    assert drop_furniture(book) == book


def test_first_page_may_lack_the_header() -> None:
    book = [page("封面"), *_book(4)]
    assert all("内部资料" not in line.text for one in drop_furniture(book) for line in one)


def test_equal_pages_keep_their_text() -> None:
    label = ("退货标签，请贴在箱子正面。", "型号甲零一，小心轻放，切勿倒置。")
    assert drop_furniture([page(*label)] * 4) == [page(*label)] * 4


def test_pages_with_nothing_but_furniture_are_empty() -> None:
    book = [*_book(4), page("某某公司内部资料", "第 5 页 共 5 页")]
    assert drop_furniture(book)[-1] == []
    assert drop_furniture([page("由扫描软件创建")] * 4) == [[]] * 4


def test_left_and_right_pages_have_their_own_headers() -> None:
    book = [page("左页眉" if number % 2 else "右页眉", f"内容{'甲乙丙丁戊己庚辛'[number]}") for number in range(8)]
    assert [len(one) for one in drop_furniture(book)] == [1] * 8


def test_lone_number_that_does_not_count_pages_stays() -> None:
    book = [page(f"正文{'甲乙丙丁'[number]}", value) for number, value in enumerate(["120", "7", "93", "55"])]
    assert drop_furniture(book) == book


@pytest.mark.parametrize("style", ["{}", "- {} -", "第 {} 页", "Page {} of 9", "{} / 9", "— {} —"])
def test_page_number_styles(style: str) -> None:
    book = [page(f"正文{'甲乙丙丁'[number]}。", style.format(number + 5)) for number in range(4)]
    assert [len(one) for one in drop_furniture(book)] == [1] * 4


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("知 识 库 检 索 服 务 支 持 open source 组 件。", "知识库检索服务支持 open source 组件。"),
        ("身 分 証 影 印 本", "身分証影印本"),
        ("第一节 重要提示", "第一节 重要提示"),
        ("项目 本期 上期 说明", "项目 本期 上期 说明"),
        ("结束 。下一句", "结束。下一句"),
        ("年 月 日", "年 月 日"),
        ("plain English words", "plain English words"),
    ],
)
def test_gaps(before: str, after: str) -> None:
    assert close_gaps(before) == after


def test_gaps_of_ocr_all_close() -> None:
    assert close_all_gaps("本 公司 成 立 于 2020 年 ， 是 一 家") == "本公司成立于 2020 年，是一家"


def test_stand_in_glyphs() -> None:
    assert unify_glyphs("⽤⼾⾄⾯⻚ ﬁle ﬂow \uf0b7项目") == "用戶至面页 file flow •项目"
    assert unify_glyphs("用户 ½ ① Ａ") == "用户 ½ ① Ａ"


def test_signs_of_single_lines() -> None:
    assert starts_anew("第三条 本办法")
    assert not starts_anew("第三方承担")
    assert ends_sentence("他说：“好。”")
    assert not ends_sentence("他说“好”")
    assert is_tabular("第一章 总则 ........ 3")
    assert is_tabular("合计 1,234.00 56%")
    assert not is_tabular("2018 年第一季度报告")
