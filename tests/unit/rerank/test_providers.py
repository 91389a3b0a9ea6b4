"""Each provider is asked in its own words, and its answer is understood."""

from __future__ import annotations

import pytest

from service.rerank.providers.known import SHAPES
from service.rerank.remote import endpoint
from tests.cases import case
from tests.fakes.rerank_server import PATHS, Answer, RerankServer, answer_of, documents_of, provider_of, query_of
from tests.unit.rerank.remote_reranker import KEY, fused, reranker, told

ALL = sorted(PATHS)


@pytest.mark.parametrize("provider", ALL)
async def test_best_first_with_the_scores_of_the_provider(server: RerankServer, provider: str) -> None:
    async with reranker(server, provider) as opened:
        ranked = await opened.rerank("问题", fused(["甲", "乙", "丙"]), 3)
        assert opened.notices() == []
    assert told(ranked) == [("丙", 0.91), ("甲", 0.4), ("乙", 0.05)]
    assert [passage.rank_before_rerank for passage in ranked] == [3, 1, 2]
    [request] = server.requests
    assert (provider_of(request), query_of(request), documents_of(request)) == (provider, "问题", ["甲", "乙", "丙"])
    assert request.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.case("BR-065")
@pytest.mark.parametrize("shape", ["cohere_jina", "tei", "nvidia", "dashscope"])
async def test_br_065_all_answer_shapes_give_the_same_order(server: RerankServer, shape: str) -> None:
    facts = case("BR-065")
    for provider in shape.split("_"):
        server.script(Answer(200, facts.input["responses"][shape]))
        async with reranker(server, provider) as opened:
            ranked = await opened.rerank("问题", fused(facts.input["documents"]), 3)
        assert [passage.content for passage in ranked] == facts.expected["order"]


@pytest.mark.case("BR-063")
@pytest.mark.parametrize("top_n", [2, 3])
async def test_br_063_fewer_scores_than_documents(server: RerankServer, top_n: int) -> None:
    facts = case("BR-063")
    server.script(Answer(200, facts.input["response"]))
    async with reranker(server) as opened:
        ranked = await opened.rerank("问题", fused(facts.input["documents"]), top_n)
    assert told(ranked) == [("丙", 0.9), ("甲", 0.4), ("乙", None)][:top_n]


async def test_what_got_no_score_keeps_the_fused_order_at_the_end(server: RerankServer) -> None:
    server.script(Answer(200, answer_of("jina", {3: 0.2, 1: -0.5})))
    async with reranker(server) as opened:
        ranked = await opened.rerank("问题", fused("一二三四五"), 5)
    assert told(ranked) == [("四", 0.2), ("二", -0.5), ("一", None), ("三", None), ("五", None)]


async def test_equal_scores_keep_the_fused_order(server: RerankServer) -> None:
    server.script(Answer(200, answer_of("tei", {4: 0.5, 2: 0.5, 0: 0.5, 1: 0.5, 3: 0.7})))
    async with reranker(server, "tei") as opened:
        ranked = await opened.rerank("问题", fused("一二三四五"), 5)
    assert "".join(passage.content for passage in ranked) == "四一二三五"


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("cohere", {"model": "m", "query": "问", "documents": ["甲"], "top_n": 1}),
        ("jina", {"model": "m", "query": "问", "documents": ["甲"], "top_n": 1, "return_documents": False}),
        ("tei", {"query": "问", "texts": ["甲"], "truncate": True}),
        ("nvidia", {"model": "m", "query": {"text": "问"}, "passages": [{"text": "甲"}], "truncate": "END"}),
        (
            "dashscope",
            {
                "model": "m",
                "input": {"query": "问", "documents": ["甲"]},
                "parameters": {"top_n": 1, "return_documents": False},
            },
        ),
    ],
)
async def test_the_body_of_a_request(server: RerankServer, provider: str, body: dict[str, object]) -> None:
    async with reranker(server, provider) as opened:
        await opened.rerank("问", fused(["甲"]), 1)
    assert server.requests[0].body == body


NATIVE = "services/rerank/text-rerank"


@pytest.mark.parametrize(
    ("provider", "url", "base_url", "path"),
    [
        ("cohere", None, "https://api.cohere.com/v2", "rerank"),
        ("jina", "http://vllm:8000/v1/", "http://vllm:8000/v1", "rerank"),
        ("jina", "http://vllm:8000/v1/rerank", "http://vllm:8000/v1", "rerank"),
        ("jina", "https://x.example/compatible-api/v1/reranks", "https://x.example/compatible-api/v1", "reranks"),
        ("tei", "http://tei:8080", "http://tei:8080", "rerank"),
        ("nvidia", "https://x.example/v1/nvidia/a-model/reranking", "https://x.example/v1/nvidia/a-model", "reranking"),
        ("dashscope", "https://x.example/api/v1", "https://x.example/api/v1", f"{NATIVE}/text-rerank"),
        ("dashscope", f"https://x.example/{NATIVE}/text-rerank", f"https://x.example/{NATIVE}", "text-rerank"),
    ],
)
def test_a_base_url_may_name_the_endpoint(provider: str, url: str | None, base_url: str, path: str) -> None:
    assert endpoint(SHAPES[provider], url) == (base_url, path)
