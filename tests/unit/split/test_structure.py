"""Sections, blocks and budgets of the structure strategy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from service.types import Chunks
from tests.unit.split import check_rules, split_markdown

TOKENS = {"strategy": "structure", "unit": "tokens"}


def cut(text: str, **settings: Any) -> Chunks:
    chunks = split_markdown(text, **settings)
    assert chunks.strategy == "structure"
    return chunks


def parents_of(text: str, **settings: Any) -> list[str]:
    chunks = cut(text, **settings)
    return [text[parent.start : parent.end] for parent in chunks.parents]


def paths_of(text: str, **settings: Any) -> list[tuple[str, ...]]:
    return [parent.heading_path for parent in cut(text, **settings).parents]


def items(count: int) -> str:
    return "".join(f"{number}. {'项' * 50}\n" for number in range(1, count + 1))


def test_a_list_stays_whole_up_to_the_hard_budget() -> None:
    assert parents_of(items(5), soft_tokens=180, hard_tokens=300, **TOKENS) == [items(5).strip()]


@pytest.mark.parametrize("overlap", [0, 100])
def test_a_longer_list_is_cut_between_items(overlap: int) -> None:
    text = items(20)
    chunks = cut(text, soft_tokens=180, hard_tokens=216, parent_overlap=overlap, **TOKENS)
    check_rules(text, chunks)
    assert len(chunks.parents) > 5
    assert max(parent.token_estimate for parent in chunks.parents) <= 216
    for parent in chunks.parents:
        for line in text[parent.start : parent.end].splitlines():
            assert f"{line}\n" in items(20).splitlines(keepends=True)


@pytest.mark.parametrize("paragraph", ["段" * 100, "段" * 99 + "。", "段" * 49 + "。" + "落" * 49 + "。"])
def test_paragraphs_are_cut_between(paragraph: str) -> None:
    text = "\n\n".join([paragraph] * 10)
    chunks = cut(text, soft_tokens=300, hard_tokens=360, parent_overlap=0, **TOKENS)
    assert [parent.start % 102 for parent in chunks.parents] == [0, 0, 0, 0]
    assert text[: chunks.parents[0].end] == "\n\n".join([paragraph] * 3)


def test_han_and_latin_text_of_equal_tokens_give_as_many_chunks() -> None:
    counts = [len(cut(text, **TOKENS).parents) for text in ("汉" * 800, "a" * 3200, ("latinxx " * 458)[:3663])]
    assert max(counts) - min(counts) <= 1
    assert min(counts) > 1


def test_a_section_that_fits_is_one_parent_with_its_heading() -> None:
    text = "# 甲\n\n第一段。\n\n- 一\n- 二\n\n## 乙\n\n第二段。\n"
    assert parents_of(text) == ["# 甲\n\n第一段。\n\n- 一\n- 二", "## 乙\n\n第二段。"]
    assert paths_of(text) == [("甲",), ("甲", "乙")]


def test_headings_of_every_kind_and_depth() -> None:
    text = "一级\n===\n\n甲\n\n## 二级 ##\n\n乙\n\n#### 四级\n\n丙\n\n### 三级\n\n丁\n\n# **另** `一` [级](http://a.cn)\n\n戊\n"
    assert paths_of(text) == [
        ("一级",),
        ("一级", "二级"),
        ("一级", "二级", "四级"),
        ("一级", "二级", "三级"),
        ("另 一 级",),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "```\n# 注释\n```",
        "~~~\n# 注释\n~~~",
        "    # 缩进的代码",
        "<!--\n# 注释\n-->",
        "- 项\n\n  # 项里的标题",
        "> # 引文里的标题",
        "#没有空格",
        "####### 七级",
        "| # 表头 |\n| --- |\n| # 行 |",
    ],
)
def test_these_are_no_headings(block: str) -> None:
    text = f"# 标题\n\n正文。\n\n{block}\n\n结尾。\n"
    assert paths_of(text) == [("标题",)]


def test_a_heading_path_holds_no_marks_and_no_tags() -> None:
    assert paths_of('# 版本 <span class="mark">新</span> `x<y` **粗** [链接](a.md)\n\n正文。\n') == [
        ("版本 新 x<y 粗 链接",)
    ]


def test_front_matter_is_no_heading() -> None:
    text = "---\ntitle: 手册\nlayout: post\n---\n\n# 标题\n\n正文。\n"
    assert paths_of(text) == [(), ("标题",)]
    assert parents_of("---\n\n正文\n\n---\n\n# 标题\n\n正文。\n") == ["---\n\n正文\n\n---", "# 标题\n\n正文。"]


def test_heading_shells_lead_into_what_follows() -> None:
    text = "# 手册\n\n## 安装\n\n### Linux\n\n运行脚本。\n\n## 空\n\n## 使用\n\n打开。\n"
    assert parents_of(text) == ["# 手册\n\n## 安装\n\n### Linux\n\n运行脚本。", "## 空\n\n## 使用\n\n打开。"]
    assert paths_of(text) == [("手册", "安装", "Linux"), ("手册", "使用")]


@pytest.mark.parametrize("text", ["# 甲\n\n## 乙\n\n# 丙\n", "# 甲\n\n正文\n\n# 乙\n\n## 丙\n", "#\n\n##\n", "# 甲"])
def test_headings_without_bodies_make_no_chunk_of_their_own(text: str) -> None:
    chunks = split_markdown(text)
    check_rules(text, chunks)
    assert len(chunks.parents) == len(chunks.children) == 1


def test_very_small_neighbours_below_one_heading_are_merged() -> None:
    entry = "## 问题{}\n\n很短的回答。\n\n"
    text = "# 常见问题\n\n" + "".join(entry.format(number) for number in range(100))
    chunks = cut(text)
    check_rules(text, chunks)
    assert 1 < len(chunks.parents) < 6
    assert {parent.heading_path for parent in chunks.parents} == {("常见问题",)}
    assert all(parent.end - parent.start <= 800 for parent in chunks.parents)
    for child in chunks.children:
        assert text[child.start :].startswith(f"## {child.inner_path[0]}\n") or child.start == 0
    assert len(chunks.children) == 100
    larger = text.replace("很短的回答。", "不太短的回答。" * 12)
    assert len(cut(larger).parents) == 100


def test_two_small_neighbours_keep_their_paths() -> None:
    assert paths_of("# 甲\n\n## 乙\n\n短。\n\n## 丙\n\n短。\n") == [("甲", "乙"), ("甲", "丙")]


def test_small_neighbours_without_a_common_heading_stay_apart() -> None:
    assert paths_of("## 退款\n\n七天。\n\n## 换货\n\n十五天。\n") == [("退款",), ("换货",)]


def test_a_lead_in_line_stays_with_its_list() -> None:
    text = "# 标题\n\n" + "前文。" * 60 + "\n\n步骤如下：\n\n" + "".join(f"- {'步' * 40}\n" for _ in range(4))
    parents = parents_of(text, parent_size=250, parent_overlap=0)
    assert parents[-1].startswith("步骤如下：")
    assert parents[-1].count("- ") == 4


def test_a_list_that_is_too_long_with_its_lead_in_keeps_it_with_the_first_item() -> None:
    text = "步骤如下：\n\n" + "".join(f"- {'步' * 40}\n" for _ in range(40))
    parents = parents_of(f"# 标题\n\n{text}")
    assert parents[0].startswith("# 标题\n\n步骤如下：\n\n- 步")
    assert all(part.startswith("- ") for part in parents[1:])


def test_a_table_over_budget_repeats_its_header_for_embedding_only() -> None:
    rows = "".join(f"| 型号{number:03} | {number} 伏。 | 库存充足；可发货 |\n" for number in range(60))
    text = f"## 型号表\n\n| 型号 | 电压 | 备注 |\n| --- | --- | --- |\n{rows}\n说明。\n"
    chunks = cut(text)
    check_rules(text, chunks)
    assert len(chunks.parents) == 3
    contents = [text[child.start : child.end] for child in chunks.children]
    for row in rows.splitlines():
        assert sum(row in content for content in contents) >= 1
    assert chunks.children[0].embedding_prefix == ""
    assert {child.embedding_prefix for child in chunks.children[1:]} == {"| 型号 | 电压 | 备注 |\n"}
    assert contents[0].startswith("## 型号表\n\n| 型号 | 电压 | 备注 |\n| --- | --- | --- |\n| 型号000")


def test_a_fence_over_budget_is_cut_between_lines() -> None:
    lines = [f"print('第 {number} 行; a! b? c')" for number in range(100)]
    text = "# 代码\n\n```python\n" + "\n".join(lines) + "\n```\n\n完。\n"
    chunks = cut(text)
    assert len(chunks.parents) > 2
    starts = {text.index(line) for line in lines}
    for child in chunks.children:
        assert child.start in starts or text[child.start : child.end].startswith(("# 代码", "完。"))
    assert not any(text[child.start : child.end].strip("`") == "" for child in chunks.children)
    assert all(before.end <= after.start for before, after in pairwise(chunks.parents)), "code is repeated"


def test_the_tail_of_a_cut_section_is_repeated_from_a_sentence_on() -> None:
    sentence = "这是一个二十个字长的句子用来测试重叠部分。"
    text = f"# 标题\n\n{sentence * 100}\n"
    chunks = cut(text)
    check_rules(text, chunks)
    for before, after in pairwise(chunks.parents):
        assert text[after.start : before.end] == sentence
        assert after.end - after.start <= 800
    assert all(before.end <= after.start for before, after in pairwise(cut(text, parent_overlap=0).parents))


def test_the_tail_of_text_without_sentence_ends_is_raw() -> None:
    text = "# 标题\n\n" + "字" * 3000
    before, after = cut(text).parents[:2]
    assert before.end - after.start == 100
    words = cut("# Title\n\n" + "word " * 600).parents
    assert 95 <= words[0].end - words[1].start <= 100
    assert ("# Title\n\n" + "word " * 600)[words[1].start :].startswith("word ")


def test_a_tail_is_not_repeated_across_sections_or_inside_a_longer_sentence() -> None:
    text = "# 甲\n\n" + "短句。" * 400 + "\n\n# 乙\n\n" + ("长" * 149 + "。") * 12
    chunks = cut(text)
    parents = [parent for parent in chunks.parents if parent.heading_path == ("乙",)]
    assert parents[0].start >= max(parent.end for parent in chunks.parents if parent.heading_path == ("甲",))
    assert all(before.end <= after.start for before, after in pairwise(parents))


def test_repeated_tails_have_no_children_of_their_own() -> None:
    text = "# 标题\n\n" + "这是一个二十个字长的句子用来测试重叠部分。" * 100
    chunks = cut(text)
    firsts = [next(child for child in chunks.children if child.parent == parent.ordinal) for parent in chunks.parents]
    assert all(first.start >= before.end for first, before in zip(firsts[1:], chunks.parents, strict=False))


def test_a_heading_that_does_not_fit_before_its_sentence_is_a_child() -> None:
    text = "# 这个标题有十个字长\n\n" + "句" * 19 + "。\n"
    chunks = cut(text, child_size=25, parent_overlap=0)
    assert [text[child.start : child.end] for child in chunks.children] == ["# 这个标题有十个字长", "句" * 19 + "。"]
    assert text[chunks.parents[0].start :].startswith("# 这个标题")


def test_auto_needs_headings_and_structure_does_not() -> None:
    text = "第一段。\n\n- 一\n- 二\n"
    assert split_markdown(text).strategy == "sentence"
    assert split_markdown(text, strategy="structure").strategy == "structure"
    assert split_markdown("# 标题\n\n" + text, strategy="sentence").strategy == "sentence"
    assert split_markdown("", strategy="structure").parents == ()


def test_sentences_of_forced_sentence_strategy_keep_markdown_lines() -> None:
    text = "# 标题\n\n| a | b |\n| --- | --- |\n| 甲 | 乙 |\n\n```\ncode; more\n```\n"
    check_rules(text, split_markdown(text, strategy="sentence", child_size=10, parent_size=20, parent_overlap=0))


def test_a_text_of_headings_only_is_in_children_as_a_whole() -> None:
    text = "".join(f"{'#' * (number % 6 + 1)} 标题{number}\n\n" for number in range(400))
    check_rules(text, cut(text))
