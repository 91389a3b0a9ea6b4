"""The adaptive limit and the circuit breaker, on a clock of our own."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from hypothesis import given
from hypothesis import strategies as st

from service.http_client import AdaptiveLimit, CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def test_no_more_calls_than_the_limit_are_in_flight() -> None:
    limit = AdaptiveLimit(3)
    in_flight = most = 0

    async def call() -> None:
        nonlocal in_flight, most
        async with limit.slot():
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0)
            in_flight -= 1

    await asyncio.gather(*(call() for _ in range(20)))
    assert (most, in_flight) == (3, 0)


async def test_429_halves_the_limit_and_good_answers_bring_it_back_one_by_one() -> None:
    limit = AdaptiveLimit(8)
    for expected in (4, 2, 1, 1):
        async with limit.slot() as mark:
            limit.too_many(mark)
        assert limit.limit == expected
    limit.good()
    assert limit.limit == 2  # one answer is a full round of one
    limit.good()
    assert limit.limit == 2  # half a round of two
    for _ in range(100):
        limit.good()
    assert limit.limit == 8


async def test_a_burst_of_429_to_calls_already_under_way_counts_once() -> None:
    limit = AdaptiveLimit(8)
    async with AsyncExitStack() as stack:
        marks = [await stack.enter_async_context(limit.slot()) for _ in range(8)]
        for mark in marks:
            limit.too_many(mark)
    assert limit.limit == 4


async def test_a_cancelled_call_gives_its_place_to_the_next() -> None:
    limit = AdaptiveLimit(1)
    entered = asyncio.Event()

    async def hold() -> None:
        async with limit.slot():
            entered.set()
            await asyncio.Event().wait()

    async def pass_through() -> str:
        async with limit.slot():
            return "through"

    holder = asyncio.create_task(hold())
    await entered.wait()
    waiting = asyncio.create_task(pass_through())
    await asyncio.sleep(0)
    holder.cancel()
    assert await waiting == "through"


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 64))
def test_the_limit_stays_within_its_bounds(answers: list[bool], largest: int) -> None:
    async def run() -> None:
        limit = AdaptiveLimit(largest)
        for is_good in answers:
            async with limit.slot() as mark:
                limit.good() if is_good else limit.too_many(mark)
            assert 1 <= limit.limit <= largest

    asyncio.run(run())


def test_the_breaker_opens_after_failures_in_a_row_only() -> None:
    breaker = CircuitBreaker(failures=3, rest_seconds=10, clock=Clock())
    for _ in range(5):
        breaker.failed()
        breaker.failed()
        breaker.answered()
    assert not breaker.is_open
    for _ in range(3):
        breaker.failed()
    assert breaker.is_open
    assert breaker.seconds_to_wait() == 10


def test_after_the_rest_one_probe_goes_out_and_decides() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=1, rest_seconds=10, clock=clock)
    breaker.failed()
    clock.seconds = 9
    assert breaker.seconds_to_wait() == 1
    clock.seconds = 10
    assert breaker.seconds_to_wait() == 0  # the probe
    assert breaker.seconds_to_wait() == 10  # everybody else
    breaker.failed()
    assert breaker.is_open
    clock.seconds = 20
    assert breaker.seconds_to_wait() == 0
    breaker.answered()
    assert not breaker.is_open
    assert breaker.seconds_to_wait() == 0
