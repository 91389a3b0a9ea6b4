"""An answer as it is written, over as many connections as it takes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import httpx

from service.errors import FuziError, Unavailable, error_of
from service.event_stream import EventStream, EventTooLarge, ServerEvent

PATH = "/v1/answer"
_LAST = frozenset({"complete", "error"})
_TRIES = 4
_WAIT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """A piece of an answer: ``search_results`` first, then ``content``, at last ``complete``."""

    name: str
    data: dict[str, Any]


def error_in(body: Any) -> FuziError | None:
    """The error of an answer of ours, as the class that has its code; None when it has not our shape."""
    try:
        error = body["error"]
        code, message, details = error["code"], error["message"], dict(error["details"])
    except (KeyError, TypeError, ValueError):
        return None
    # a detail of these names would clash with the arguments
    return error_of(
        code, message, **{name: value for name, value in details.items() if name not in {"code", "message"}}
    )


def answer_events(
    http: httpx.Client,
    failures: Callable[[], AbstractContextManager[None]],
    refusal: Callable[[httpx.Response], FuziError],
    body: Mapping[str, Any],
) -> Iterator[AnswerEvent]:
    """Yield the events of an answer. A connection that breaks is taken up behind the last event that came.

    Args:
        failures: makes errors of ours of those of the network.
        refusal: the error that an answer with a bad status tells of.

    Raises:
        FuziError: the server's own, refused or in the middle of the answer; `Unavailable` when it cannot be reached.
    """
    last_id, failed = "", 0
    while True:
        try:
            for event in _connected(http, failures, refusal, body, last_id):
                last_id, failed = event.id, 0
                yield _read(event)
                if event.name in _LAST:
                    return
        except Unavailable as error:
            failed += 1
            # what was never begun is not asked for twice, and what the server itself reports is no broken connection
            if not last_id or failed == _TRIES or error.code != Unavailable.code:
                raise
            time.sleep(_WAIT_SECONDS)


def _connected(
    http: httpx.Client,
    failures: Callable[[], AbstractContextManager[None]],
    refusal: Callable[[httpx.Response], FuziError],
    body: Mapping[str, Any],
    last_id: str,
) -> Iterator[ServerEvent]:
    """Events of one connection; the end of it is an error: who has the last event reads no further."""
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    stream = EventStream()
    with failures(), http.stream("POST", PATH, json=body, headers=headers) as response:
        if response.status_code != httpx.codes.OK:
            response.read()
            raise refusal(response)
        for piece in response.iter_bytes():
            try:
                yield from stream.feed(piece)
            except EventTooLarge as error:
                raise Unavailable(f"the server answers, but not as a Fuzi server does: {error}") from error
    raise Unavailable("the answer broke off: the server ended the stream in the middle")


def _read(event: ServerEvent) -> AnswerEvent:
    try:
        data = json.loads(event.data)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise FuziError("the server answers, but not as a Fuzi server does")
    if event.name == "error":
        raise error_in(data) or FuziError("the answer failed, and the server does not say why")
    return AnswerEvent(event.name, data)
