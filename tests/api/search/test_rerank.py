"""Searches with a reranker over HTTP, which reorders, or fails and is done without."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from service.config import RerankSettings
from service.rerank import create_reranker
from service.search import search
from service.types import SearchRequest, SearchResult
from tests.api.conftest import Api
from tests.cases import case
from tests.fakes.rerank_server import Answer, RerankServer, documents_of, top_n_of
from tests.fakes.scripted_server import Behaviour, Cut, Hang, Trickle

QUERY = "滤芯"
SOURCES = ("甲.md", "乙.md", "丙.md")


@pytest.fixture
def scorer() -> Iterator[RerankServer]:
    with RerankServer({"甲": 0.4, "乙": 0.05, "丙": 0.91}) as running:
        yield running


@asynccontextmanager
async def reranking(api: Api, scorer: RerankServer, **values: object) -> AsyncIterator[None]:
    """The application with a reranker of its own that nothing was asked of before."""
    address = {"provider": "jina", "model": "m", "base_url": scorer.address("jina")}
    reranker = create_reranker(RerankSettings.model_validate({**address, **values}))
    before = api.services
    api.app.state.services = replace(before, reranker=reranker)
    try:
        yield
    finally:
        api.app.state.services = before
        await reranker.close()


async def fill(api: Api) -> None:
    for source in SOURCES:
        await api.put(source, f"{source[0]}号机每月更换滤芯。")


async def found(api: Api, **options: object) -> tuple[list[str], list[str]]:
    """Sources in order, and the codes of the warnings."""
    response = await api.search(QUERY, **options)
    assert response.status_code == 200, response.text
    body = response.json()
    return [passage["source"] for passage in body["passages"]], [warning["code"] for warning in body["warnings"]]


FAULTS: dict[str, Behaviour] = {
    "500": Answer(500),
    "401": Answer(401, {"message": "invalid key"}),
    "time-out": Hang(),
    "drip": Trickle(),
    "200 with body not JSON": Answer(200, "<html>"),
    "cut body": Cut(half_way=True),
    "wrong index": Answer(200, {"results": [{"index": 7, "relevance_score": 0.9}]}),
    "duplicates": Answer(200, {"results": [{"index": 2, "relevance_score": 0.9}] * 3}),
    "NaN": Answer(200, '{"results": [{"index": 2, "relevance_score": NaN}]}'),
}


@pytest.mark.case("BR-064")
async def test_br_064_whatever_fails_the_fused_order_is_kept_and_said_so(api: Api, scorer: RerankServer) -> None:
    facts = case("BR-064")
    assert {"500", "401", "time-out", "200 with body not JSON"} | {"connection refused"} == set(facts.input["reranker"])
    assert facts.expected["status"] == 200
    await fill(api)
    fused, warnings = await found(api, rerank=False)
    assert (sorted(fused), warnings) == (sorted(SOURCES), [])
    async with reranking(api, scorer):
        reordered, warnings = await found(api)
        assert (reordered, warnings) == (["丙.md", "甲.md", "乙.md"], [])
        assert reordered != fused
    for fault, behaviour in FAULTS.items():
        scorer.rule = lambda _request, behaviour=behaviour: behaviour
        async with reranking(api, scorer, timeout_seconds=0.3):
            assert await found(api) == (fused, ["rerank_unavailable"]), fault
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with reranking(api, scorer, base_url=f"http://127.0.0.1:{closed.getsockname()[1]}/v1"):
            assert await found(api) == (fused, ["rerank_unavailable"]), "connection refused"


@pytest.mark.case("BR-066")
async def test_br_066_impossible_numbers_are_never_sent(api: Api, scorer: RerankServer) -> None:
    nothing, two = case("BR-066").expected["case1"], case("BR-066").expected["case2"]
    async with reranking(api, scorer):
        assert await found(api) == ([], [])
        assert len(scorer.requests) == nothing["rerank_calls"] == 0
        await api.put("甲.md", "甲号机每月更换滤芯。")
        await api.put("丙.md", "丙号机每月更换滤芯。")
        assert await found(api, top_n=10) == (["丙.md", "甲.md"], [])
    [request] = scorer.requests
    assert len(documents_of(request)) == two["results"] == 2
    assert top_n_of(request) == two["top_n_at_most"] == 2


async def test_readiness_names_a_reranker_that_failed_until_it_answers_again(api: Api, scorer: RerankServer) -> None:
    await api.put("甲.md", "甲号机每月更换滤芯。")
    async with reranking(api, scorer):
        scorer.rule = lambda _request: Answer(401)
        await found(api)
        ready = await api.http.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert [reason["code"] for reason in ready.json()["reasons"]] == ["rerank_unavailable"]
        scorer.rule = lambda _request: None
        await found(api)
        assert (await api.http.get("/readyz")).json() == {"status": "ready", "reasons": [], "replica": None}


async def asked(api: Api, least: float, *, rerank: bool = True) -> SearchResult:
    request = SearchRequest(
        query=QUERY,
        top_n=5,
        candidates=50,
        vector_weight=70,
        fts_weight=30,
        rrf_k=60,
        rerank=rerank,
        min_rerank_score=least,
    )
    return await search(api.services.for_search, request)


async def test_passages_below_the_threshold_of_the_reranker_are_left_out(api: Api, scorer: RerankServer) -> None:
    await fill(api)
    async with reranking(api, scorer):
        best = await asked(api, 0.4)
        assert [(passage.source, passage.rerank_score) for passage in best.passages] == [
            ("丙.md", 0.91),
            ("甲.md", 0.4),
        ]
        assert best.warnings == ()
        none = await asked(api, 0.95)
        assert (none.passages, none.warnings) == ((), ())
    # what lies behind the pool was not judged, so it cannot be good enough
    async with reranking(api, scorer, pool=1):
        assert len((await asked(api, -1)).passages) == 1


async def test_the_threshold_is_not_applied_when_nothing_was_scored(api: Api, scorer: RerankServer) -> None:
    await fill(api)
    scorer.rule = lambda _request: Answer(500)
    async with reranking(api, scorer):
        failed = await asked(api, 0.95)
        assert len(failed.passages) == 3
        assert [notice.code for notice in failed.warnings] == ["rerank_unavailable", "min_rerank_score_not_applied"]
        unwanted = await asked(api, 0.95, rerank=False)
        assert len(unwanted.passages) == 3
        assert [notice.code for notice in unwanted.warnings] == ["min_rerank_score_not_applied"]
