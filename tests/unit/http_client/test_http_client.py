"""The resilient core, over httpx's transport seam and a clock that moves when somebody sleeps."""

from __future__ import annotations

import asyncio
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
import structlog
from pydantic import SecretStr

from service.errors import EmbedderUnavailable, EmbeddingRefused, Misconfigured, RerankerUnavailable
from service.http_client import HttpPolicy, ProviderClient, ProviderErrors

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ERRORS = ProviderErrors(EmbedderUnavailable, EmbeddingRefused)
SECRET = "sk-very-secret-7731"

type Step = httpx.Response | Exception


class World:
    """A scripted provider and the time that passes."""

    def __init__(self, *steps: Step, last: Step | None = None) -> None:
        self.seconds = 100.0
        self.slept: list[float] = []
        self.requests: list[httpx.Request] = []
        self.asked_at: list[float] = []
        self._steps = list(steps)
        self._last = last or ok()

    def client(self, errors: ProviderErrors = ERRORS, **policy: Any) -> ProviderClient:
        return ProviderClient(
            "openai",
            "https://provider.example/v1",
            errors,
            api_key=SecretStr(SECRET),
            policy=HttpPolicy(**policy),
            transport=httpx.MockTransport(self._answer),
            clock=lambda: self.seconds,
            now=lambda: NOON + timedelta(seconds=self.seconds - 100),
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.asked_at.append(self.seconds)
        step = self._steps.pop(0) if self._steps else self._last
        if isinstance(step, Exception):
            raise step
        return step


def ok() -> httpx.Response:
    return httpx.Response(200, json={"answer": 42})


def no(status: int, message: str = "scripted", **headers: str) -> httpx.Response:
    return httpx.Response(
        status,
        json={"error": {"message": message}},
        headers={name.replace("_", "-"): headers[name] for name in headers},
    )


async def test_a_good_answer_is_returned_and_the_key_goes_into_the_header() -> None:
    world = World()
    assert await world.client().post_json("embeddings", {"input": ["猫"]}) == {"answer": 42}
    [request] = world.requests
    assert str(request.url) == "https://provider.example/v1/embeddings"
    assert request.headers["Authorization"] == f"Bearer {SECRET}"
    assert request.read().decode() == '{"input":["猫"]}'


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
async def test_an_outage_is_tried_again_with_growing_waits(status: int) -> None:
    world = World(no(status), no(status), no(status))
    assert await world.client(first_wait_seconds=1).post_json("x", {}) == {"answer": 42}
    assert len(world.slept) == 3
    assert all(0 <= wait <= 2**at for at, wait in enumerate(world.slept))


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("cut")]
)
async def test_a_connection_that_fails_is_tried_again(failure: Exception) -> None:
    world = World(failure)
    assert await world.client().post_json("x", {}) == {"answer": 42}


async def test_after_the_last_try_the_callers_error_is_raised_with_its_cause() -> None:
    world = World(last=httpx.ConnectError("connection refused"))
    client = world.client(ProviderErrors(RerankerUnavailable, EmbeddingRefused), attempts=3)
    with pytest.raises(RerankerUnavailable, match=r"openai \(provider\.example\).*connection refused") as raised:
        await client.post_json("x", {})
    assert len(world.requests) == 3
    assert raised.value.__cause__ is not None


async def test_retry_after_in_seconds_is_waited_for_exactly() -> None:
    world = World(no(429, Retry_After="2"), no(429, Retry_After="1"))
    await world.client().post_json("x", {})
    assert world.slept == [2, 1]


async def test_retry_after_as_a_date_is_waited_for() -> None:
    world = World(no(503, Retry_After=format_datetime(NOON + timedelta(seconds=7), usegmt=True)))
    await world.client().post_json("x", {})
    assert world.slept == [7]


async def test_a_rate_limit_may_come_more_often_than_there_are_attempts() -> None:
    world = World(*[no(429, Retry_After="1")] * 20)
    assert await world.client(attempts=2).post_json("x", {}) == {"answer": 42}


async def test_a_wait_beyond_the_total_time_is_not_begun() -> None:
    world = World(no(429, Retry_After="3600"))
    with pytest.raises(EmbedderUnavailable, match="429"):
        await world.client(total_timeout_seconds=300).post_json("x", {})
    assert world.slept == []


async def test_all_tries_together_end_within_the_total_time() -> None:
    world = World(last=no(429))
    with pytest.raises(EmbedderUnavailable):
        await world.client(total_timeout_seconds=60).post_json("x", {})
    assert world.seconds <= 160


async def test_a_pause_that_one_call_was_told_holds_for_the_others() -> None:
    world = World(no(429, Retry_After="5"))
    client = world.client(concurrency=1)
    await asyncio.gather(client.post_json("a", {}), client.post_json("b", {}))
    assert world.asked_at[0] == 100
    assert len(world.asked_at) == 3
    assert all(at >= 105 for at in world.asked_at[1:])


async def test_a_provider_that_asks_for_no_pause_is_not_hammered() -> None:
    world = World(last=no(429, Retry_After="0"))
    with pytest.raises(EmbedderUnavailable):
        await world.client(total_timeout_seconds=10, first_wait_seconds=0.5).post_json("x", {})
    assert len(world.requests) <= 20


async def test_429_lowers_the_calls_in_flight() -> None:
    world = World(no(429))
    client = world.client(concurrency=8)
    await client.post_json("x", {})
    assert client.limit.limit == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 301])
async def test_a_refusal_is_final_and_carries_status_and_reason(status: int) -> None:
    world = World(no(status, "model `m` does not exist"))
    with pytest.raises(EmbeddingRefused, match="model `m` does not exist") as refused:
        await world.client().post_json("x", {})
    assert refused.value.details["status"] == status
    assert len(world.requests) == 1


async def test_an_error_under_200_is_no_answer() -> None:
    refused = httpx.Response(200, json={"error": {"message": "bad key", "code": "401"}})
    with pytest.raises(EmbeddingRefused, match="bad key"):
        await World(refused).client().post_json("x", {})
    world = World(httpx.Response(200, json={"error": "overloaded"}))
    assert await world.client().post_json("x", {}) == {"answer": 42}
    assert len(world.requests) == 2


async def test_a_page_instead_of_json_is_an_outage() -> None:
    world = World(last=httpx.Response(200, text="<html>Bad gateway</html>"))
    with pytest.raises(EmbedderUnavailable, match="Bad gateway"):
        await world.client(attempts=2).post_json("x", {})
    assert len(world.requests) == 2


async def test_the_key_is_in_no_message_even_when_the_provider_repeats_it() -> None:
    world = World(no(401, f"Incorrect API key provided: {SECRET}"))
    with pytest.raises(EmbeddingRefused) as refused:
        await world.client().post_json("x", {})
    shown = "".join(traceback.format_exception(refused.value)) + repr(refused.value.details)
    assert SECRET not in shown
    assert "***" in refused.value.message


async def test_a_password_in_the_url_goes_into_the_header_only() -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return no(403) if len(requests) > 1 else ok()

    url = "https://me:hunter2@provider.example/v1"
    client = ProviderClient("openai", url, ERRORS, transport=httpx.MockTransport(answer))
    await client.post_json("x", {})
    assert str(requests[0].url) == "https://provider.example/v1/x"
    assert requests[0].headers["Authorization"].startswith("Basic ")
    with pytest.raises(EmbeddingRefused) as refused:
        await client.post_json("x", {})
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


async def test_every_retry_is_logged_without_the_key() -> None:
    with structlog.testing.capture_logs() as logs:
        await World(no(429, f"slow down, {SECRET}", Retry_After="2")).client().post_json("x", {})
    [line] = logs
    assert (line["event"], line["wait_seconds"], line["provider"]) == (
        "provider_retry",
        2,
        "openai (provider.example)",
    )
    assert SECRET not in repr(line)


async def test_an_endless_error_page_makes_no_endless_message() -> None:
    with pytest.raises(EmbeddingRefused) as refused:
        await World(httpx.Response(400, text="x" * 100_000)).client().post_json("x", {})
    assert len(refused.value.message) < 500


async def test_with_the_breaker_open_a_search_fails_at_once_and_a_patient_call_waits() -> None:
    world = World(*[no(500)] * 4)
    client = world.client(attempts=2, breaker_failures=4, breaker_rest_seconds=10)
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable):
            await client.post_json("x", {})
    with pytest.raises(EmbedderUnavailable, match="left alone"):
        await client.post_json("x", {}, urgent=True)
    assert len(world.requests) == 4
    before = world.seconds
    assert await client.post_json("x", {}) == {"answer": 42}
    assert world.seconds - before == pytest.approx(10)
    assert await client.post_json("x", {}, urgent=True) == {"answer": 42}


async def test_a_search_gets_the_time_of_one_call_for_all_its_tries() -> None:
    world = World(last=no(429, Retry_After="4"))
    with pytest.raises(EmbedderUnavailable):
        await world.client(timeout_seconds=10, total_timeout_seconds=300).post_json("x", {}, urgent=True)
    assert world.seconds <= 110


async def test_a_search_passes_the_queue_of_patient_calls() -> None:
    held, release = asyncio.Event(), asyncio.Event()

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("slow"):
            held.set()
            await release.wait()
        return ok()

    client = ProviderClient(
        "openai",
        "https://provider.example",
        ERRORS,
        policy=HttpPolicy(concurrency=1),
        transport=httpx.MockTransport(answer),
    )
    patient = asyncio.create_task(client.post_json("slow", {}))
    await held.wait()
    assert await client.post_json("fast", {}, urgent=True) == {"answer": 42}
    release.set()
    await patient


@pytest.mark.parametrize("url", ["provider.example/v1", "ftp://provider.example", "", "http://"])
def test_a_url_that_cannot_work_is_a_mistake_at_start(url: str) -> None:
    with pytest.raises(Misconfigured, match="http"):
        ProviderClient("openai", url, ERRORS)
