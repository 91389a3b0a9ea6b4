"""Rendering: exact spans whatever the blocks, pages in order, marks that a Markdown parser understands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from service.extract.structure.draft import Draft, DraftBlock
from service.extract.structure.render import render
from service.types import BlockType

_CHARACTERS = st.text("字词a1 #->|`=\n。　*_[]!~\\", max_size=30)
_BLOCKS = st.builds(
    DraftBlock,
    type=st.sampled_from([kind for kind in BlockType if kind is not BlockType.TABLE]),
    text=_CHARACTERS,
    level=st.integers(1, 6),
    marker=st.sampled_from(["-", "1.", "12."]),
)
_TABLES = st.builds(
    DraftBlock,
    type=st.just(BlockType.TABLE),
    rows=st.lists(st.lists(_CHARACTERS, min_size=1, max_size=4), min_size=1, max_size=4),
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.one_of(_BLOCKS, _TABLES), max_size=8))
def test_spans_are_exact_ordered_and_cover_the_text(blocks: list[DraftBlock]) -> None:
    rendered = render(Draft(blocks))
    position = 0
    for block in rendered.blocks:
        assert not rendered.text[position : block.start].strip(), "only white space stands between blocks"
        assert rendered.text[block.start : block.end].strip()
        assert position <= block.start < block.end
        position = block.end
    assert position == len(rendered.text)
    assert [block.type for block in rendered.blocks] == [block.type for block in blocks if not block.is_empty]


@settings(max_examples=500, deadline=None)
@given(st.lists(_CHARACTERS, max_size=5))
def test_prose_never_becomes_a_heading_or_a_fence(texts: list[str]) -> None:
    rendered = render(Draft([DraftBlock(BlockType.PARAGRAPH, text) for text in texts]))
    kinds = {token.type for token in MarkdownIt("commonmark").parse(rendered.text)}
    assert not kinds & {"heading_open", "fence"}


@given(st.lists(st.tuples(st.integers(0, 4), st.text("字a", min_size=1, max_size=3)), min_size=1, max_size=12))
def test_pages_follow_each_other(items: list[tuple[int, str]]) -> None:
    numbers = sorted(number for number, _ in items)
    blocks = [
        DraftBlock(BlockType.PARAGRAPH, text, page=number) for number, (_, text) in zip(numbers, items, strict=True)
    ]
    rendered = render(Draft(blocks, [None] * 5))
    assert [page.number for page in rendered.pages] == [1, 2, 3, 4, 5]
    assert all(0 <= page.start <= page.end <= len(rendered.text) for page in rendered.pages)
    assert all(one.end <= other.start for one, other in zip(rendered.pages, rendered.pages[1:], strict=False))


def test_paragraph_over_a_page_end_belongs_to_both_pages() -> None:
    block = DraftBlock(BlockType.PARAGRAPH, "第一页的字第二页的字", page=0, page_starts=[(5, 1)])
    rendered = render(Draft([block], [None, None]))
    assert [rendered.text[page.start : page.end] for page in rendered.pages] == ["第一页的字", "第二页的字"]


def test_nested_items_stand_under_the_text_of_their_parent() -> None:
    items = [(0, "9."), (1, "-"), (2, "1."), (1, "-"), (0, "10."), (1, "-")]
    blocks = [DraftBlock(BlockType.LIST_ITEM, "项", level, marker) for level, marker in items]
    text = render(Draft(blocks)).text
    assert text == "9. 项\n   - 项\n     1. 项\n   - 项\n10. 项\n    - 项"
    tokens = MarkdownIt("commonmark").parse(text)
    assert max(token.level for token in tokens if token.type == "list_item_open") == 5


@pytest.mark.parametrize("level", range(1, 7))
def test_heading_levels(level: int) -> None:
    assert render(Draft([DraftBlock(BlockType.HEADING, "标 题\n续", level)])).text == "#" * level + " 标 题 续"


def test_short_rows_are_filled_and_bars_escaped() -> None:
    table = DraftBlock(BlockType.TABLE, rows=[["a", "b|c"], ["1"], ["x\ny", "\\|"]])
    assert render(Draft([table])).text == "| a | b\\|c |\n| --- | --- |\n| 1 |  |\n| x y | \\| |"
