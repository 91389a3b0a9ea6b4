"""Whatever the provider does, the flow hears of it in time by one error, and goes on with the fused order."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from service.errors import RerankerUnavailable
from service.http_client import ProviderClient, ProviderErrors
from service.rerank.providers.known import SHAPES
from service.rerank.remote import RemoteReranker, policy_of
from tests.fakes.rerank_server import PATHS, Answer, RerankServer, answer_of
from tests.fakes.scripted_server import Behaviour, Cut, Hang, Trickle
from tests.unit.rerank.remote_reranker import KEY, fused, reranker, settings, told

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def bad(rows: list[Any]) -> Answer:
    return Answer(200, {"results": rows})


FAULTS: dict[str, Behaviour] = {
    "500": Answer(500),
    "401": Answer(401, {"message": f"invalid api token {KEY}"}),
    "404": Answer(404, "not here"),
    "body is not JSON": Answer(200, "<html>gateway</html>"),
    "body is cut": Cut(half_way=True),
    "connection is dropped": Cut(),
    "error under 200": Answer(200, {"code": "InvalidParameter", "message": "model does not exist"}),
    "no results": Answer(200, {"usage": {}}),
    "results is no list": Answer(200, {"results": {"index": 0, "relevance_score": 1}}),
    "null": Answer(200, "null"),
    "scores nothing": bad([]),
    "index too high": bad([{"index": 3, "relevance_score": 0.9}]),
    "index negative": bad([{"index": -1, "relevance_score": 0.9}]),
    "index is a text": bad([{"index": "1", "relevance_score": 0.9}]),
    "index is true": bad([{"index": True, "relevance_score": 0.9}]),
    "index is missing": bad([{"relevance_score": 0.9}]),
    "row is a text": bad(["丙"]),
    "duplicate": bad([{"index": 2, "relevance_score": 0.9}, {"index": 2, "relevance_score": 0.1}]),
    "too many": bad([{"index": index, "relevance_score": 0.5} for index in (2, 0, 1, 3)]),
    "score is missing": bad([{"index": 2, "relevance_score": 0.9}, {"index": 0}]),
    "score is null": bad([{"index": 2, "relevance_score": None}]),
    "score is a text": bad([{"index": 2, "relevance_score": "0.9"}]),
    "score is NaN": Answer(200, '{"results": [{"index": 2, "relevance_score": NaN}]}'),
    "score is infinite": Answer(200, '{"results": [{"index": 2, "relevance_score": -Infinity}]}'),
    "score is beyond double": Answer(200, f'{{"results": [{{"index": 2, "relevance_score": 1{"0" * 400}}}]}}'),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_br_064_a_fault_is_one_error_without_the_key(server: RerankServer, fault: str) -> None:
    server.rule = lambda _request: FAULTS[fault]
    async with reranker(server) as opened:
        with pytest.raises(RerankerUnavailable) as raised:
            await opened.rerank("问题", fused("甲乙丙"), 3)
        assert KEY not in raised.value.message
        assert [notice.code for notice in opened.notices()] == ["rerank_unavailable"]
        server.rule = lambda _request: None
        assert told(await opened.rerank("问题", fused("甲乙丙"), 1)) == [("丙", 0.91)]
        assert opened.notices() == []


async def test_br_064_a_refused_connection_is_one_error(server: RerankServer) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with reranker(server, base_url=f"http://127.0.0.1:{closed.getsockname()[1]}/v1") as opened:
            with pytest.raises(RerankerUnavailable, match="out of reach"):
                await opened.rerank("问题", fused("甲乙丙"), 3)


@pytest.mark.parametrize("fault", [Hang(), Trickle()], ids=["hang", "drip"])
async def test_br_064_a_server_that_never_ends_costs_the_limit_and_less_than_a_second_more(
    server: RerankServer, fault: Behaviour
) -> None:
    server.rule = lambda _request: fault
    limit = 0.3
    async with reranker(server, timeout_seconds=limit, batch_size=1, concurrency=2) as opened:
        async with asyncio.timeout(limit + 1):
            with pytest.raises(RerankerUnavailable):
                await opened.rerank("问题", fused("甲乙丙丁"), 3)


async def test_one_call_of_several_that_fails_spoils_the_step(server: RerankServer) -> None:
    server.rule = lambda request: Answer(400) if request.body["documents"] == ["丙"] else None
    async with reranker(server, batch_size=1) as opened:
        with pytest.raises(RerankerUnavailable, match="refuses"):
            await opened.rerank("问题", fused("甲乙丙"), 3)


async def test_a_server_that_stays_down_is_left_alone(server: RerankServer) -> None:
    server.rule = lambda _request: Answer(503)
    async with reranker(server) as opened:
        for _ in range(8):
            with pytest.raises(RerankerUnavailable):
                await opened.rerank("问题", fused("甲乙丙"), 3)
        assert len(server.requests) <= 6


@pytest.mark.parametrize("provider", sorted(PATHS))
async def test_an_outage_of_one_call_is_tried_once_more(server: RerankServer, provider: str) -> None:
    server.script(Answer(503))
    async with reranker(server, provider) as opened:
        assert told(await opened.rerank("问题", fused("甲乙丙"), 1)) == [("丙", 0.91)]
    assert len(server.requests) == 2


class Clock:
    """A scripted provider, and time that passes when somebody sleeps."""

    def __init__(self, *steps: httpx.Response) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []
        self.calls = 0
        self._steps = list(steps)

    def reranker(self, server: RerankServer) -> RemoteReranker:
        client = ProviderClient(
            "jina reranker",
            "https://provider.example/v1",
            ProviderErrors(RerankerUnavailable, RerankerUnavailable),
            policy=policy_of(settings(server)),
            transport=httpx.MockTransport(self._answer),
            clock=lambda: self.seconds,
            now=lambda: NOON + timedelta(seconds=self.seconds),
            sleep=self._sleep,
        )
        return RemoteReranker(SHAPES["jina"], client, "rerank", settings(server))

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds

    def _answer(self, _request: httpx.Request) -> httpx.Response:
        self.calls += 1
        return self._steps.pop(0) if self._steps else httpx.Response(200, json=answer_of("jina", {0: 0.5}))


async def test_a_short_pause_that_is_asked_for_is_kept(server: RerankServer) -> None:
    clock = Clock(httpx.Response(429, headers={"Retry-After": "2"}, json={"error": {"message": "slow down"}}))
    opened = clock.reranker(server)
    assert told(await opened.rerank("问题", fused("甲"), 1)) == [("甲", 0.5)]
    assert clock.slept == [2]


async def test_a_long_pause_fails_at_once_and_nothing_is_sent_before_it_is_over(server: RerankServer) -> None:
    clock = Clock(httpx.Response(429, headers={"Retry-After": "60"}, json={"error": {"message": "slow down"}}))
    opened = clock.reranker(server)
    for _ in range(3):
        with pytest.raises(RerankerUnavailable):
            await opened.rerank("问题", fused("甲"), 1)
    assert (clock.calls, clock.slept) == (1, [])
    clock.seconds = 61
    assert told(await opened.rerank("问题", fused("甲"), 1)) == [("甲", 0.5)]


async def test_while_the_breaker_is_open_a_search_does_not_wait_for_the_probe(server: RerankServer) -> None:
    clock = Clock(*[httpx.Response(500, json={"error": {"message": "broken"}})] * 6)
    opened = clock.reranker(server)
    for _ in range(3):
        with pytest.raises(RerankerUnavailable):
            await opened.rerank("问题", fused("甲"), 1)
    # one second before the rest of ten is over: short enough to wait for, but somebody waits for the search
    clock.seconds += 9
    slept, calls = len(clock.slept), clock.calls
    with pytest.raises(RerankerUnavailable, match="left alone"):
        await opened.rerank("问题", fused("甲"), 1)
    assert (len(clock.slept), clock.calls) == (slept, calls)
