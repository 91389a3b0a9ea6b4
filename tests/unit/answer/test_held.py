"""Answers that are held: by whom they are read, when they are forgotten, how they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest

from service.api.answer.held import Answers, HeldAnswer
from service.config import ChatSettings
from service.errors import AnswerNotHeld, ChatUnavailable, Overloaded
from service.types import ANYONE, AnswerRequest, Completed, Found, Principal, SearchRequest, SearchResult, Written

REQUEST = AnswerRequest("问", SearchRequest("问", 1, 1, 1, 1, 60))
FOUND = Found("generated", "问", (), SearchResult((), {"total_ms": 1.0}, ()), "m", ())
END = Completed("generated", (), (), "stop", {}, None, ())
OTHER = Principal(uuid4(), "other", frozenset())


class Model:
    """Writes words until told to end; knows whether it was stopped."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_end = asyncio.Event()
        self.is_stopped = False
        self._error = error

    async def write(self) -> AsyncGenerator[Written | Completed]:
        try:
            yield Written("甲")
            await self.may_end.wait()
            if self._error is not None:
                raise self._error
            yield Written("乙")
            yield END
        finally:
            self.is_stopped = not self.may_end.is_set()


def answers(**settings: float) -> Answers:
    return Answers(ChatSettings(**settings))  # type: ignore[arg-type]


def begin(held_by: Answers, model: Model) -> HeldAnswer:
    return held_by.begin(ANYONE, REQUEST, FOUND, model.write(), "r")


async def read(held: HeldAnswer, after: int = 0) -> str:
    return b"".join([piece async for piece in held.follow(after, 60)]).decode()


async def test_a_reader_gets_everything_and_so_does_a_second_one() -> None:
    model, all_of_them = Model(), answers()
    held = begin(all_of_them, model)
    first = asyncio.create_task(read(held))
    await asyncio.sleep(0)
    model.may_end.set()
    assert await first == await read(held)
    assert (await read(held, after=3)).count("event:") == 1
    await all_of_them.close()


async def test_what_nobody_reads_is_stopped_and_forgotten() -> None:
    all_of_them = Answers(ChatSettings(resume_seconds=0), latest_start_seconds=0)
    held = begin(all_of_them, Model())
    assert held.task is not None
    await asyncio.gather(held.task, return_exceptions=True)
    with pytest.raises(AnswerNotHeld):
        all_of_them.resume(f"{held.id}-1", ANYONE, REQUEST)
    assert held.events[-1].is_last


async def test_a_reader_that_leaves_in_the_middle_stops_the_model() -> None:
    model, all_of_them = Model(), answers(resume_seconds=0)
    held = begin(all_of_them, model)
    async for piece in held.follow(0, 60):
        if b"content" in piece:
            break
    assert held.task is not None
    await asyncio.wait_for(asyncio.gather(held.task, return_exceptions=True), 5)
    assert model.is_stopped


async def test_one_that_was_left_gives_its_place_to_the_next() -> None:
    all_of_them = answers(concurrency=1, resume_seconds=600)
    first, model = Model(), Model()
    held = begin(all_of_them, first)
    with pytest.raises(Overloaded):  # it has just begun, its reader is on the way
        begin(all_of_them, model)
    reader = held.follow(0, 60)
    await anext(reader)
    with pytest.raises(Overloaded):
        begin(all_of_them, model)
    await reader.aclose()
    begin(all_of_them, model)
    with pytest.raises(AnswerNotHeld):
        all_of_them.resume(f"{held.id}-1", ANYONE, REQUEST)
    await all_of_them.close()


async def test_ended_ones_are_held_in_bounded_number() -> None:
    all_of_them, model = answers(concurrency=1, resume_seconds=600), Model()
    model.may_end.set()
    held = []
    for _ in range(12):
        held.append(begin(all_of_them, model))
        await read(held[-1])
    all_of_them.resume(f"{held[-1].id}-1", ANYONE, REQUEST)
    with pytest.raises(AnswerNotHeld):
        all_of_them.resume(f"{held[0].id}-1", ANYONE, REQUEST)
    await all_of_them.close()


async def test_nobody_else_can_read_on() -> None:
    all_of_them = answers()
    held = begin(all_of_them, Model())
    with pytest.raises(AnswerNotHeld):
        all_of_them.resume(f"{held.id}-1", OTHER, REQUEST)
    await all_of_them.close()


async def test_when_the_service_stops_every_stream_ends_with_an_error() -> None:
    stopping, model = asyncio.Event(), Model()
    async with answers().until(stopping) as all_of_them:
        reader = asyncio.create_task(read(begin(all_of_them, model)))
        await asyncio.sleep(0.01)
        stopping.set()
        text = await asyncio.wait_for(reader, 5)
    assert '"code": "stopping"' in text.rpartition("event: error")[2]
    assert model.is_stopped


@pytest.mark.parametrize(
    ("error", "code"), [(ChatUnavailable("away"), "chat_unavailable"), (RuntimeError("geheim"), "internal_error")]
)
async def test_a_failure_is_the_last_event(error: Exception, code: str) -> None:
    model, all_of_them = Model(error), answers()
    model.may_end.set()
    text = await read(begin(all_of_them, model))
    assert f'"code": "{code}"' in text.rpartition("event: error")[2]
    assert "geheim" not in text
    await all_of_them.close()


async def test_a_silence_is_filled() -> None:
    model, all_of_them = Model(), answers()
    reader = begin(all_of_them, model).follow(2, 0.01)
    assert await anext(reader) == b": alive\n\n"
    await reader.aclose()
    await all_of_them.close()
