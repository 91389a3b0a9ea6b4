"""What a stream of events says does not hang on how its bytes arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.event_stream import EventStream, EventTooLarge, ServerEvent

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12)
NAME = LINE.filter(lambda name: name != "")
ID = LINE.filter(lambda text: "\0" not in text)
END = st.sampled_from(["\n", "\r", "\r\n"])


@given(st.lists(st.tuples(NAME, st.lists(LINE, min_size=1, max_size=3), ID), max_size=4), st.data())
def test_any_events_in_any_pieces_come_out_as_they_went_in(
    events: list[tuple[str, list[str], str]], data: st.DataObject
) -> None:
    text = ""
    for name, lines, identifier in events:
        end = data.draw(END)
        fields = [f"event: {name}", *(f"data: {line}" for line in lines), f"id: {identifier}", ": silence", "retry: 5"]
        text += "".join(field + end for field in fields) + end
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    stream = EventStream()
    pieces = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    found = [event for piece in pieces for event in stream.feed(piece)]
    assert found == [ServerEvent(name, "\n".join(lines), identifier) for name, lines, identifier in events]


def test_only_cr_and_lf_end_a_line() -> None:
    raw = "data: 一\u2028二\u2029三\u0085四\x0b五\x1c六\n\n".encode()
    stream = EventStream()
    found = [event for at in range(len(raw)) for event in stream.feed(raw[at : at + 1])]
    assert found == [ServerEvent("message", "一\u2028二\u2029三\u0085四\x0b五\x1c六")]


def test_an_event_that_no_blank_line_ends_does_not_count() -> None:
    assert EventStream().feed(b"data: whole\n\ndata: half\n") == [ServerEvent("message", "whole")]


def test_a_mark_at_the_start_and_fields_without_a_blank_are_read() -> None:
    assert EventStream().feed("\ufeffdata:甲\ndata\nid:\0\nnothing: 1\n\n".encode()) == [ServerEvent("message", "甲\n")]


def test_bytes_that_are_no_utf8_become_marks_and_disturb_nothing() -> None:
    assert EventStream().feed(b"data: \xff\n\ndata: 2\n\n") == [
        ServerEvent("message", "\ufffd"),
        ServerEvent("message", "2"),
    ]


@pytest.mark.parametrize("line", [b"data: 12345\n", b"x", b"event: 1\n"])
def test_an_event_that_never_ends_is_given_up(line: bytes) -> None:
    stream = EventStream(max_event_bytes=100)
    with pytest.raises(EventTooLarge):
        [stream.feed(line) for _ in range(200)]


def test_heartbeats_do_not_add_up_to_an_event() -> None:
    stream = EventStream(max_event_bytes=100)
    for _ in range(200):
        assert stream.feed(b": alive\n") == []
    assert stream.feed(b"data: 1\n\n" * 50) == [ServerEvent("message", "1")] * 50
