"""An answer as events, each with its name and its JSON on one line."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from service.api.answer.schemas import ContentAnswer, completed_answer
from service.api.edge.error_handlers import error_content, json_safe
from service.errors import FuziError
from service.types import Completed, Written

HEARTBEAT = b": alive\n\n"
_RETRY_MILLISECONDS = 1000
# JSON allows them, and so does the format; readers that cut lines as Python's splitlines does would tear the data.
_LINE_ENDS_OF_SOME = {ord(character): f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``data`` is JSON without line ends."""

    name: str
    data: str

    @property
    def is_last(self) -> bool:
        """Whether nothing comes after it: a stream without such an event was cut."""
        return self.name in {"complete", "error"}


def event_of(name: str, content: BaseModel) -> Event:
    """Return a piece of an answer as an event."""
    return _event(name, content.model_dump(mode="json"))


def event_of_piece(answer_id: str, piece: Written | Completed) -> Event:
    """Return what the flow brought next as an event."""
    if isinstance(piece, Written):
        return event_of("content", ContentAnswer(text=piece.text))
    return event_of("complete", completed_answer(answer_id, piece))


def event_of_error(error: FuziError, request_id: str) -> Event:
    """Return the last event of an answer that failed: the one JSON shape of all errors."""
    return _event("error", {"error": error_content(error, request_id)})


def _event(name: str, content: dict[str, Any]) -> Event:
    return Event(name, json.dumps(json_safe(content), ensure_ascii=False).translate(_LINE_ENDS_OF_SOME))


def written(event: Event, event_id: str) -> bytes:
    """Return the bytes of an event."""
    return format_sse_event(data_str=event.data, event=event.name, id=event_id, retry=_RETRY_MILLISECONDS)


class EventResponse(EventSourceResponse):
    """A stream of events whose generator is closed at once when the reader goes away."""

    def __init__(self, pieces: AsyncGenerator[bytes]) -> None:
        # text/event-stream is always UTF-8; a proxy that collects the answer would spoil it
        super().__init__(pieces, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        async with aclosing(self._pieces):
            await super().__call__(scope, receive, send)
