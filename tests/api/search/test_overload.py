"""More searches than the process can answer: a bounded line, clear refusals, and no lasting harm."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from service.api.edge.admission import Admission
from service.api.search.routes import SEARCH_PATHS
from service.config import LimitSettings, Settings
from service.errors import Overloaded
from service.extract import Extractor
from service.metrics import Metrics
from tests.api.conftest import opener, problem, running
from tests.fakes.hash_embedder import HashEmbedder


async def test_a_crowd_is_answered_or_refused_and_health_stays(settings: Settings, extractor: Extractor) -> None:
    limits = settings.limits.model_copy(update={"searches_at_once": 1, "searches_waiting": 2})
    crowded = settings.model_copy(update={"limits": limits})
    async with running(crowded, opener(extractor, HashEmbedder(384))) as api:
        await api.put("甲.md", "水泵每半年更换一次轴承。")
        answers = await asyncio.gather(*(api.search("轴承") for _ in range(12)), api.http.get("/healthz"))
        *searches, health = answers
        assert health.status_code == 200
        refused = [answer for answer in searches if answer.status_code != 200]
        assert 1 <= len(refused) <= 11, [answer.status_code for answer in searches]
        for answer in refused:
            _check_refusal(answer)
        assert (await api.search("轴承")).status_code == 200
        numbers = (await api.http.get("/metrics")).text
        assert f"fuzi_searches_refused_total {len(refused)}.0" in numbers
        assert "fuzi_searches_waiting 0.0" in numbers


def _check_refusal(answer: httpx.Response) -> None:
    assert (answer.status_code, problem(answer)["code"], problem(answer)["retryable"]) == (503, "overloaded", True)
    assert int(answer.headers["Retry-After"]) >= 1


async def test_nothing_is_done_for_a_search_that_finds_the_line_full(settings: Settings, extractor: Extractor) -> None:
    limits = settings.limits.model_copy(update={"searches_at_once": 1, "searches_waiting": 0})
    crowded = settings.model_copy(update={"limits": limits})
    async with running(crowded, opener(extractor, HashEmbedder(384))) as api:
        for path in SEARCH_PATHS:
            wrong = await api.http.post(path, content=b"no JSON")
            assert wrong.status_code == 422
            async with api.app.state.admission.place():
                _check_refusal(await api.http.post(path, content=b"no JSON"))
        assert (await api.search("轴承")).status_code == 200


async def test_the_first_come_are_the_first_served() -> None:
    admission = Admission(LimitSettings(searches_at_once=1, searches_waiting=2), Metrics())
    served = list[str]()

    async def one(name: str) -> None:
        await admission.enter()
        served.append(name)
        await asyncio.sleep(0)
        admission.leave()

    await asyncio.gather(*(one(name) for name in "abc"))
    assert served == ["a", "b", "c"]


async def test_who_waits_too_long_is_refused_and_leaves_the_line() -> None:
    admission = Admission(LimitSettings(searches_at_once=1, searches_waiting=1, search_wait_seconds=0.01), Metrics())
    await admission.enter()
    for _ in range(3):  # the line has one place: it must be free again each time
        with pytest.raises(Overloaded):
            await admission.enter()
    admission.leave()
    await admission.enter()


async def test_who_goes_away_while_waiting_takes_no_place() -> None:
    admission = Admission(LimitSettings(searches_at_once=1, searches_waiting=1), Metrics())
    await admission.enter()
    waiting = asyncio.create_task(admission.enter())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    admission.leave()
    await asyncio.wait_for(admission.enter(), 5)


async def test_no_line_at_all_can_be_asked_for() -> None:
    admission = Admission(LimitSettings(searches_at_once=1, searches_waiting=0), Metrics())
    await admission.enter()
    with pytest.raises(Overloaded) as refusal:
        await admission.enter()
    assert refusal.value.details["retry_after_seconds"] >= 1
