"""Answers under way in this process, held a little longer than their readers: who comes back goes on where they were.

An answer is written by a task of its own, whatever becomes of the request that asked for it. A reader that goes away
leaves it for ``resume_seconds``; then the model is stopped and what was written is forgotten. No more than
``concurrency`` are at work: a new one takes the place of the oldest whose reader has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Self
from uuid import uuid4

import structlog

from service.api.answer.events import HEARTBEAT, Event, event_of, event_of_error, event_of_piece, written
from service.api.answer.schemas import found_answer
from service.config import ChatSettings
from service.errors import AnswerNotHeld, FuziError, InvalidRequest, Overloaded, Stopping
from service.types import AnswerRequest, Completed, Found, Principal, Written

log = structlog.get_logger()

_HELD_PER_PLACE = 8
"""Answers that have ended and may be held, for each that may be at work: memory is bounded, not only time."""

type Pieces = AsyncGenerator[Written | Completed]


@dataclass(eq=False, slots=True)
class HeldAnswer:
    """One answer: its events so far, from number 1, and who reads them."""

    id: str
    asker: Principal
    request: AnswerRequest
    request_id: str
    begun: float
    events: list[Event] = field(default_factory=list)
    failure: FuziError | None = None
    readers: int = 0
    was_read: bool = False
    task: asyncio.Task[None] | None = None
    on_left: Callable[[HeldAnswer], None] = lambda _held: None
    timer: asyncio.TimerHandle | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_ended(self) -> bool:
        """Whether its last event is there."""
        return self.events[-1].is_last

    def add(self, event: Event) -> None:
        """Add what came next, and wake the readers."""
        self.events.append(event)
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def follow(self, after: int, heartbeat_seconds: float) -> AsyncGenerator[bytes]:
        """Yield the events behind number ``after`` as bytes, and a comment at each silence; ends with the answer."""
        self.readers += 1
        self.was_read = True
        if self.timer is not None:
            self.timer.cancel()
        try:
            while True:
                while after < len(self.events):
                    after += 1
                    yield written(self.events[after - 1], f"{self.id}-{after}")
                if self.is_ended:
                    return
                try:
                    async with asyncio.timeout(heartbeat_seconds):
                        await self._news.wait()
                except TimeoutError:
                    yield HEARTBEAT
        finally:
            self.readers -= 1
            self.on_left(self)


class Answers:
    """The answers of one process.

    Args:
        latest_start_seconds: from the beginning of an answer until its first reader is there, if there will be one.
    """

    def __init__(self, settings: ChatSettings, latest_start_seconds: float = 5) -> None:
        self._settings = settings
        self._latest_start_seconds = latest_start_seconds
        self._held: dict[str, HeldAnswer] = {}

    def make_room(self) -> None:
        """Stop an answer that nobody reads when there is no place for another one.

        Raises:
            Overloaded: all of them are being read.
        """
        at_work = [held for held in self._held.values() if not held.is_ended]
        if len(at_work) < self._settings.concurrency:
            return
        late = asyncio.get_running_loop().time() - self._latest_start_seconds
        left = next((held for held in at_work if not held.readers and (held.was_read or held.begun < late)), None)
        if left is None:
            raise Overloaded(
                f"{len(at_work)} answers are being written, no more at once; try again in a moment",
                retry_after_seconds=2,
            )
        self._forget(left)

    def begin(
        self, asker: Principal, request: AnswerRequest, found: Found, pieces: Pieces, request_id: str
    ) -> HeldAnswer:
        """Let an answer be written, and hold it.

        Raises:
            Overloaded: as `make_room`.
        """
        self.make_room()
        ended = [held for held in self._held.values() if held.is_ended and held.readers == 0]
        for held in ended[: max(0, len(ended) - _HELD_PER_PLACE * self._settings.concurrency)]:
            self._forget(held)
        begun = asyncio.get_running_loop().time()
        held = HeldAnswer(uuid4().hex, asker, request, request_id, begun, on_left=self._left)
        held.add(event_of("search_results", found_answer(held.id, found)))
        held.task = asyncio.create_task(self._write(held, pieces), name="answer")
        self._held[held.id] = held
        self._left(held)
        return held

    def resume(self, event_id: str, asker: Principal, request: AnswerRequest) -> tuple[HeldAnswer, int]:
        """Find the answer that an event id is of, and the number of that event.

        Raises:
            AnswerNotHeld: it is forgotten, or another process or somebody else asked for it.
            InvalidRequest: this is no id of an event of ours, or the answer is to another question.
        """
        answer_id, _, number = event_id.partition("-")
        if not answer_id or not number.isascii() or not number.isdigit() or len(number) > 9:
            raise InvalidRequest("Last-Event-ID is no id of an event of an answer")
        held = self._held.get(answer_id)
        if held is None or held.asker.key_id != asker.key_id or int(number) > len(held.events):
            raise AnswerNotHeld("this answer is not held here (any more); ask again without Last-Event-ID")
        if held.request != request:
            raise InvalidRequest("Last-Event-ID is of an answer to another question; send the same request again")
        return held, int(number)

    def drop(self, held: HeldAnswer) -> None:
        """Forget an answer at once; one that is not whole is not written any further."""
        self._forget(held)

    @asynccontextmanager
    async def until(self, stopping: asyncio.Event) -> AsyncIterator[Self]:
        """Hold answers while the block runs; once ``stopping`` is set, all that are under way end with an error."""

        async def watch() -> None:
            await stopping.wait()
            await self.close()

        watching = asyncio.create_task(watch(), name="answers-stop")
        try:
            yield self
        finally:
            watching.cancel()
            await self.close()

    async def close(self) -> None:
        """End all answers; those under way with an error, so that no reader takes them for whole."""
        tasks = [held.task for held in self._held.values() if held.task is not None]
        for held in list(self._held.values()):
            self._forget(held)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, held: HeldAnswer, pieces: Pieces) -> None:
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    held.add(event_of_piece(held.id, piece))
        except FuziError as error:
            log.warning("answer_failed", code=error.code, message=error.message)
            self._fail(held, error)
        except Exception:
            log.exception("answer_failed")
            self._fail(held, FuziError("an error nobody foresaw; the log has it"))
        finally:
            self._left(held)

    def _fail(self, held: HeldAnswer, error: FuziError) -> None:
        held.failure = error
        held.add(event_of_error(error, held.request_id))

    def _left(self, held: HeldAnswer) -> None:
        """Nobody reads an answer: forget it in a while."""
        if held.readers or held.id not in self._held:
            return
        if held.timer is not None:
            held.timer.cancel()
        seconds = self._settings.resume_seconds
        if not held.was_read:
            seconds = max(seconds, self._latest_start_seconds)
        held.timer = asyncio.get_running_loop().call_later(seconds, self._forget, held)

    def _forget(self, held: HeldAnswer) -> None:
        self._held.pop(held.id, None)
        if held.timer is not None:
            held.timer.cancel()
        if held.task is not None and not held.task.done():
            if held.readers == 0:
                log.info("answer_stopped", reason="nobody reads it")
            held.task.cancel()
        if not held.is_ended:
            self._fail(held, Stopping("the answer was stopped; ask again"))
