"""Server-sent events, read: bytes as they come → events. Pure.

The format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html: lines end with CR, LF or CRLF and
with nothing else, so a U+2028 or U+0085 in the data stays where it is; an event that no blank line ends does not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; ``id`` is the last one that the stream gave, the empty text before the first."""

    name: str
    data: str
    id: str = ""


class EventTooLarge(Exception):
    """An event, or a line of one, is larger than whoever reads wants to hold."""


class EventStream:
    """Reads one stream, in pieces of any size.

    Args:
        max_event_bytes: largest event, in bytes of its lines.
    """

    def __init__(self, max_event_bytes: int = 4_000_000) -> None:
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._after_cr = False
        self._at_start = True
        self._size = 0
        self._name, self._data, self._id = "", list[str](), ""

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Take what arrived, and return the events that it completes.

        Raises:
            EventTooLarge: an event grew beyond the limit.
        """
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        elif not piece:
            return []
        self._after_cr = piece.endswith(b"\r")
        first, *others = _LINE_END.split(piece)
        self._grow(first)
        events = list[ServerEvent]()
        for rest in others:
            event = self._take(bytes(self._line))
            if event is not None:
                events.append(event)
            self._line.clear()
            self._grow(rest)
        return events

    def _grow(self, part: bytes) -> None:
        self._line += part
        self._size += len(part)
        if self._size > self._max_event_bytes:
            raise EventTooLarge(f"an event is larger than {self._max_event_bytes} bytes")

    def _take(self, line: bytes) -> ServerEvent | None:
        if self._at_start:
            line, self._at_start = line.removeprefix(_BOM), False
        if not line:
            return self._dispatch()
        field, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id" if "\0" not in value:
                self._id = value
            case "":  # a comment, which must not add up over a long silence
                self._size -= len(line)
            case _:
                pass
        return None

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent(self._name or "message", "\n".join(self._data), self._id) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event
