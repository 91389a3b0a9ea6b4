"""What ``fuzi doctor`` says about the reranker."""

from __future__ import annotations

from typing import Any

from service.cli.work.checks import Finding, State, check_reranker
from service.config import RerankSettings, Settings
from tests.fakes.rerank_server import RerankServer
from tests.fakes.scripted_server import Answer


async def finding(**rerank: Any) -> Finding:
    [only] = await check_reranker(Settings(_env_file=None, rerank=RerankSettings(**rerank)))
    return only


async def test_without_a_reranker_all_is_well() -> None:
    found = await finding(provider="none")
    assert (found.state, found.message) == (State.OK, "none: passages stay in fused order")


async def test_one_small_question_tells_whether_it_answers() -> None:
    with RerankServer({"滤芯": 0.9}) as scorer:
        found = await finding(provider="tei", base_url=scorer.address("tei"))
        assert (found.state, found.message) == (State.OK, "tei answers")
        assert len(scorer.requests) == 1
        scorer.rule = lambda _request: Answer(401, {"error": "invalid key"})
        found = await finding(provider="tei", base_url=scorer.address("tei"))
    assert found.state == State.WARN
    assert "401" in found.message
    assert "FUZI_RERANK__BASE_URL" in (found.mend or "")
