"""Chinese legal texts: 编, 章, 节, 条, 款 at a line start are headings."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest

from service.types import Chunks
from tests.unit.split import check_rules, split_markdown, split_plain

LAW = """某某管理办法

目录
第一章 总则
第二章 管理
第一节 登记
第二节 变更
第三章 附则

第一章 总则

第一条 为了加强管理，根据有关法律，制定本办法。

第二条 本办法第三条规定的情形，适用本条。
第三条规定的情形除外，其中
第一款规定的期限为十日。

第二章 管理

第一节 登记

第三条 登记应当提交下列材料：
（一）申请书；
（二）第十条、第十一条要求的证明。

第三条之一 材料应当真实。

第二节 变更
第四条　变更登记参照前条办理。

第三章 附则

第五条【施行】本办法自发布之日起施行。
"""


def paths(chunks: Chunks) -> list[tuple[str, ...]]:
    """The headings above each child, every section once."""
    above = [(*chunks.parents[child.parent].heading_path, *child.inner_path) for child in chunks.children]
    return [path for path, _ in groupby(above)]


def parent_paths(chunks: Chunks) -> list[tuple[str, ...]]:
    return [parent.heading_path for parent in chunks.parents]


@pytest.mark.parametrize("split_text", [split_plain, split_markdown])
def test_a_law(split_text: object) -> None:
    chunks = split_plain(LAW) if split_text is split_plain else split_markdown(f"# 某某管理办法\n\n{LAW}")
    title = () if split_text is split_plain else ("某某管理办法",)
    assert chunks.strategy == "structure"
    assert paths(chunks) == [
        title,
        (*title, "第一章 总则", "第一条"),
        (*title, "第一章 总则", "第二条"),
        (*title, "第二章 管理", "第一节 登记", "第三条"),
        (*title, "第二章 管理", "第一节 登记", "第三条之一"),
        (*title, "第二章 管理", "第二节 变更", "第四条"),
        (*title, "第三章 附则", "第五条"),
    ]


def test_articles_of_one_chapter_or_section_are_joined() -> None:
    chunks = split_plain(LAW)
    check_rules(LAW, chunks)
    assert parent_paths(chunks) == [
        (),
        ("第一章 总则",),
        ("第二章 管理", "第一节 登记"),
        ("第二章 管理", "第二节 变更", "第四条"),
        ("第三章 附则", "第五条"),
    ]
    contents = [LAW[parent.start : parent.end] for parent in chunks.parents]
    assert contents[0].endswith("第三章 附则")
    assert contents[1].startswith("第一章 总则\n\n第一条 为了")
    assert contents[1].endswith("第一款规定的期限为十日。")
    assert contents[2].endswith("第三条之一 材料应当真实。")


def test_each_child_of_joined_articles_is_of_one_of_them() -> None:
    chunks = split_plain(LAW)
    found = [(child.inner_path, LAW[child.start : child.end].split(maxsplit=1)[0]) for child in chunks.children]
    assert found[1:4] == [(("第一条",), "第一章"), (("第二条",), "第二条"), (("第三条",), "第二章")]
    assert found[4:] == [(("第三条之一",), "第三条之一"), ((), "第二节"), ((), "第三章")]


def test_articles_are_joined_up_to_the_parent_size_and_no_further() -> None:
    text = "第一章 总则\n" + "".join(f"第{number}条 {'字' * 90}。\n" for number in range(1, 40))
    for size in (800, 250, 110):
        chunks = split_plain(text, parent_size=size, child_size=110, parent_overlap=0)
        check_rules(text, chunks)
        parents = [text[parent.start : parent.end] for parent in chunks.parents]
        assert max(map(len, parents)) <= size
        assert all(len(before) + len(after.split("\n")[0]) >= size for before, after in pairwise(parents))
        assert [child.inner_path or (chunks.parents[child.parent].heading_path[-1],) for child in chunks.children] == [
            (f"第{number}条",) for number in range(1, 40)
        ]


def test_articles_without_chapters_are_joined_under_nothing() -> None:
    text = "第一条 为了管理，制定本办法。\n第二条 本办法适用于全国。\n"
    chunks = split_plain(text)
    assert parent_paths(chunks) == [()]
    assert paths(chunks) == [("第一条",), ("第二条",)]


@pytest.mark.parametrize(
    "text",
    [
        "依照第一条规定处理。\n依照第二条规定处理。",
        "第一条规定的情形。\n第二条所列的情形。",
        "第一条、第二条的情形。\n第三条和第四条的情形。",
        "第一条 规定的情形。\n第二条 所称的情形。",
        "只有第一条 像标题。\n第二次世界大战。",
        "第一条 只有一条。",
        "第三节课讲了函数。\n第五节课讲了图形。",
    ],
)
def test_references_are_no_headings(text: str) -> None:
    assert split_plain(text).strategy == "sentence"


def test_labels_without_a_blank_count_on() -> None:
    text = "第一章总则\n第一条为了管理，制定本办法。\n第二条本办法适用于全国。\n第九条这样的说法不算。\n"
    assert paths(split_plain(text)) == [("第一章总则", "第一条"), ("第一章总则", "第二条")]


def test_labels_in_markdown_headings_and_emphasis() -> None:
    text = "# 办法\n\n## 第一章 总则\n\n**第一条** 为了管理。\n\n**第二条** 适用全国。\n\n```\n第三条 代码\n```\n"
    assert paths(split_markdown(text)) == [("办法", "第一章 总则", "第一条"), ("办法", "第一章 总则", "第二条")]


def test_an_article_title_of_its_own_line() -> None:
    text = "第一条 立法目的\n为了管理，制定本办法。\n第二条 适用范围\n适用全国。\n"
    assert paths(split_plain(text)) == [("第一条 立法目的",), ("第二条 适用范围",)]


def test_a_long_article_is_cut_between_its_paragraphs() -> None:
    text = "第一条 总的规定。\n" + "".join(f"（{number}）{'款' * 95}。\n" for number in range(20)) + "第二条 施行。\n"
    chunks = split_plain(text, parent_overlap=0)
    check_rules(text, chunks)
    assert set(parent_paths(chunks)) == {("第一条",), ("第二条",)}
    for parent in chunks.parents[1:]:
        assert text[parent.start - 1] == "\n"


def test_an_article_may_begin_with_a_verb_that_references_begin_with() -> None:
    text = "第七十五条 法规由常务委员会通过。\n\n第七十六条 规定重大事项的法规，应当由代表大会通过。\n"
    assert paths(split_plain(text)) == [("第七十五条",), ("第七十六条",)]


def test_parts_and_high_numbers() -> None:
    text = "第一编 总则\n第一分编 通则\n第一百二十三条 内容甲。\n第一千二百六十条 内容乙。\n第12条 内容丙。\n"
    assert paths(split_plain(text)) == [
        ("第一编 总则", "第一分编 通则", "第一百二十三条"),
        ("第一编 总则", "第一分编 通则", "第一千二百六十条"),
        ("第一编 总则", "第一分编 通则", "第12条"),
    ]
