"""Answers that come as events: what is tried again, what is not, and how a stream may end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from service.errors import EmbeddingRefused, FuziError, RerankerUnavailable
from service.http_client import HttpPolicy, ProviderClient, ProviderErrors
from tests.fakes.chat_server import ChatServer, Stream
from tests.fakes.scripted_server import Answer, Behaviour, Cut, Hang

SECRET = "sk-very-secret-7731"


async def _client(server: ChatServer, **policy: float) -> AsyncIterator[ProviderClient]:
    limits = {"timeout_seconds": 5, "first_wait_seconds": 0.01, "longest_wait_seconds": 0.02, "attempts": 3, **policy}
    errors = ProviderErrors(RerankerUnavailable, EmbeddingRefused)
    async with ProviderClient(
        "chat", server.url, errors, api_key=SecretStr(SECRET), policy=HttpPolicy(**limits)
    ) as client:
        yield client


async def heard(server: ChatServer, **policy: float) -> list[str]:
    """Data of all events of one call."""
    async for client in _client(server, **policy):
        async with client.post_for_events("chat/completions", {"stream": True}) as events:
            return [event.data async for event in events]
    raise AssertionError


async def test_events_come_as_they_were_sent() -> None:
    with ChatServer("一\u2028二", "三") as server:
        data = await heard(server)
        assert [part in text for part, text in zip(["一\u2028二", "三"], data[1:3], strict=True)] == [True, True]
        assert data[-1] == "[DONE]"
        assert server.requests[0].headers["Accept"] == "text/event-stream"


@pytest.mark.parametrize("first", [Answer(429, headers={"Retry-After": "0"}), Answer(503), Cut()])
async def test_what_fails_before_the_first_event_is_tried_again(first: Behaviour) -> None:
    with ChatServer("一") as server:
        server.script(first)
        assert (await heard(server))[-1] == "[DONE]"
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("behaviour", "kind", "message"),
    [
        (Answer(401, {"error": {"message": f"bad key {SECRET}"}}), EmbeddingRefused, r"bad key \*\*\*"),
        (Answer(200, {"choices": []}), EmbeddingRefused, "application/json instead of text/event-stream"),
        (Answer(200, {"error": {"message": "no", "code": 400}}), EmbeddingRefused, "no"),
        (Answer(200, "<html>sign in</html>", {"Content-Type": "text/html"}), RerankerUnavailable, "sign in"),
        (Answer(503, "x" * 1_000_000), RerankerUnavailable, "503"),
        (Hang(), RerankerUnavailable, "no answer within"),
    ],
)
async def test_what_is_no_stream_is_an_error_that_says_so(
    behaviour: Behaviour, kind: type[FuziError], message: str
) -> None:
    with ChatServer() as server:
        server.usual = behaviour
        with pytest.raises(kind, match=message):
            await heard(server, timeout_seconds=0.3)


async def test_a_stream_that_breaks_off_is_not_tried_again() -> None:
    with ChatServer() as server:
        server.usual = Stream(["一"], pause_seconds=5)
        with pytest.raises(RerankerUnavailable, match="no answer within"):
            await heard(server, timeout_seconds=0.2)
        assert len(server.requests) == 1


async def test_the_whole_has_a_limit_however_lively_the_stream_is() -> None:
    with ChatServer() as server:
        server.usual = Stream(["一"] * 1000, pause_seconds=0.02)
        with pytest.raises(RerankerUnavailable):
            await heard(server, total_timeout_seconds=0.3)


async def test_an_event_without_end_is_given_up() -> None:
    with ChatServer("x" * 5_000_000) as server, pytest.raises(EmbeddingRefused, match="larger than"):
        await heard(server)


async def test_leaving_the_block_ends_the_call_and_frees_its_place() -> None:
    with ChatServer() as server:
        server.usual = Stream(["一"] * 1000, pause_seconds=0.01)
        async for client in _client(server, concurrency=1):
            for _ in range(3):
                async with asyncio.timeout(5), client.post_for_events("chat/completions", {}) as events:
                    async for _event in events:
                        break
