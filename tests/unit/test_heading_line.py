"""One line of title and headings, the same above what is embedded and what a reranker gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.embed.passage_text import passage_text
from service.heading_line import heading_line
from service.rerank.documents import document_text
from tests.unit.rerank.remote_reranker import passage


@pytest.mark.parametrize(
    ("title", "path", "line"),
    [
        ("售后政策", ("售后政策", "退货"), "售后政策 > 退货"),
        ("手册", ("", "安装", "安装"), "手册 > 安装"),
        (None, ("总则",), "总则"),
        ("", (), ""),
        (None, (), ""),
    ],
)
def test_every_part_is_named_once(title: str | None, path: tuple[str, ...], line: str) -> None:
    assert heading_line(title, path) == line


_PARTS = st.text(st.sampled_from("甲乙 a"), max_size=2)


@given(_PARTS, st.lists(_PARTS, max_size=4))
def test_models_and_rerankers_read_the_same(title: str, path: list[str]) -> None:
    sent = document_text(passage("内容", title=title, heading_path=tuple(path)), 1000, heading_context=True)
    assert sent == passage_text("内容", "", title, path)
    assert sent.removesuffix("内容").strip("\n") == heading_line(title, path)
