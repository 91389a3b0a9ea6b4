"""What is sent, in how many calls, and how their scores come together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.rerank.documents import calls, document_text
from tests.cases import case
from tests.fakes.rerank_server import RerankServer, documents_of, query_of, top_n_of
from tests.unit.rerank.remote_reranker import fused, passage, reranker, told

LETTERS = "甲乙丙丁戊己庚辛壬癸"


@pytest.mark.parametrize("provider", ["jina", "tei"])
async def test_scores_of_several_calls_are_merged(server: RerankServer, provider: str) -> None:
    server.scores = {letter: ((at * 7) % 10) / 10 for at, letter in enumerate(LETTERS)}
    async with reranker(server, provider, batch_size=3) as opened:
        ranked = await opened.rerank("问题", fused(LETTERS), 4)
    best = sorted(LETTERS, key=lambda letter: -server.scores[letter])[:4]
    assert told(ranked) == [(letter, server.scores[letter]) for letter in best]
    assert sorted(len(documents_of(request)) for request in server.requests) == [1, 3, 3, 3]
    assert sorted(text for request in server.requests for text in documents_of(request)) == sorted(LETTERS)


@pytest.mark.case("BR-066")
@pytest.mark.parametrize("provider", ["cohere", "jina", "dashscope"])
async def test_br_066_top_n_is_never_above_the_documents_of_a_call(server: RerankServer, provider: str) -> None:
    facts = case("BR-066").input["cases"][1]
    assert (facts["candidates"], facts["top_n"]) == (2, 10)
    async with reranker(server, provider) as opened:
        assert len(await opened.rerank("问题", fused("甲乙"), 10)) == 2
    async with reranker(server, provider, batch_size=2) as opened:
        assert len(await opened.rerank("问题", fused("甲乙丙"), 10)) == 3
    assert sorted(top_n_of(request) or 0 for request in server.requests) == [1, 2, 2]


@pytest.mark.case("BR-066")
async def test_br_066_without_candidates_nothing_is_asked(server: RerankServer) -> None:
    async with reranker(server) as opened:
        assert await opened.rerank("问题", [], 5) == []
    assert server.requests == []


async def test_only_the_pool_is_sent_and_the_others_follow_in_their_order(server: RerankServer) -> None:
    server.scores = {"一": 0.1, "二": 0.2, "三": 0.3, "四": 0.9}
    async with reranker(server, pool=3) as opened:
        ranked = await opened.rerank("问题", fused("一二三四五"), 5)
        assert told(await opened.rerank("问题", fused("一二三四五"), 2)) == [("三", 0.3), ("二", 0.2)]
    assert told(ranked) == [("三", 0.3), ("二", 0.2), ("一", 0.1), ("四", None), ("五", None)]
    assert documents_of(server.requests[0]) == ["一", "二", "三"]


async def test_title_and_heading_path_are_sent_in_front_of_the_content(server: RerankServer) -> None:
    one = passage("七天之内。", title="售后政策", heading_path=("售后政策", "退货"))
    async with reranker(server) as opened:
        await opened.rerank("问题", [one], 1)
    async with reranker(server, heading_context=False) as opened:
        await opened.rerank("问题", [one], 1)
    assert [documents_of(request) for request in server.requests] == [["售后政策 > 退货\n七天之内。"], ["七天之内。"]]


async def test_texts_are_cut_to_what_the_provider_takes(server: RerankServer) -> None:
    """DashScope: 4,000 tokens a text, and 30,000 a call where the query counts once a document."""
    async with reranker(server, "dashscope") as opened:
        await opened.rerank("问" * 5000, fused([letter + "文" * 6000 for letter in LETTERS]), 10)
    assert {len(query_of(request)) for request in server.requests} == {4000}
    assert {len(text) for request in server.requests for text in documents_of(request)} == {4000}
    assert sorted(len(documents_of(request)) for request in server.requests) == [1, 3, 3, 3]


async def test_a_text_that_has_no_utf_8_is_sent_all_the_same(server: RerankServer) -> None:
    async with reranker(server) as opened:
        assert len(await opened.rerank("\ud800问题", fused(["甲\udfff"]), 1)) == 1
    assert documents_of(server.requests[0]) == ["甲?"]


@given(st.lists(st.text(max_size=30), max_size=40), st.text(max_size=10), st.integers(1, 9), st.integers(1, 100))
def test_calls_hold_every_document_once_in_order_and_keep_the_limits(
    documents: list[str], query: str, most: int, largest: int
) -> None:
    parts = list(calls(query, documents, most, largest))
    assert [at for part in parts for at in part] == list(range(len(documents)))
    for part in parts:
        assert 1 <= len(part) <= most
        assert len(part) == 1 or sum(len(query) + len(documents[at]) for at in part) <= largest


@given(
    content=st.text(max_size=50),
    title=st.text(max_size=20) | st.none(),
    path=st.lists(st.text(max_size=9), max_size=3),
    longest=st.integers(1, 60),
)
def test_a_document_is_not_longer_than_allowed(content: str, title: str | None, path: list[str], longest: int) -> None:
    one = passage(content, title=title, heading_path=tuple(path))
    sent = content.encode("utf-8", "replace").decode()
    assert len(document_text(one, longest, heading_context=True)) <= longest
    assert document_text(one, 1000, heading_context=True).endswith(sent)
    assert document_text(one, 1000, heading_context=False) == sent
