"""Frames between parent and parser process: every text comes out as it went in, and nothing else is taken for one."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import Encrypted, ExtractionCrashed
from service.extract.guard.messages import LENGTH_BYTES, error_message, frame, result_of, text_message
from service.types import Block, BlockType, ExtractedText, Notice, Page, TextFormat

# any code point, lone surrogates too: metadata come as the file has them
strings = st.text(st.characters(), max_size=20)
numbers = st.integers(0, 2**40)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False) | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=6,
)
texts = st.builds(
    ExtractedText,
    strings,
    st.sampled_from(TextFormat),
    strings,
    blocks=st.lists(
        st.builds(Block, st.sampled_from(BlockType), numbers, numbers, numbers, st.none() | numbers), max_size=3
    ).map(tuple),
    pages=st.lists(st.builds(Page, numbers, numbers, numbers, st.none() | strings), max_size=3).map(tuple),
    title=st.none() | strings,
    metadata=st.dictionaries(strings, values, max_size=3),
    warnings=st.lists(st.builds(Notice, strings, strings, st.none() | numbers), max_size=3).map(tuple),
    extractor=strings,
    extractor_version=strings,
)


def received(message: dict[str, Any]) -> dict[str, Any]:
    sent = frame(message)
    assert int.from_bytes(sent[:LENGTH_BYTES], "big") == len(sent) - LENGTH_BYTES
    loaded: dict[str, Any] = json.loads(sent[LENGTH_BYTES:])
    return loaded


@given(texts)
def test_a_text_comes_out_as_it_went_in(extracted: ExtractedText) -> None:
    result = result_of(received(text_message(extracted)))
    assert result == extracted
    assert repr(result) == repr(extracted), "enums are enums again, tuples tuples"


@pytest.mark.parametrize(
    "wrong",
    [
        {"blocks": [{"type": "heading"}]},
        {"blocks": [{"type": "spell", "level": 1, "start": 0, "end": 1}]},
        {"format": "html"},
        {"text": 5},
        {"pages": [{"number": 1, "start": "first", "end": 2}]},
        {"metadata": None},
    ],
)
def test_what_is_no_text_is_a_crashed_parser(wrong: dict[str, Any]) -> None:
    good = asdict(ExtractedText("水泵", TextFormat.PLAIN, "text/plain"))
    assert result_of({"extracted": good}).text == "水泵"
    with pytest.raises(ExtractionCrashed):
        result_of({"extracted": {**good, **wrong}})
    for nothing in ({}, {"extracted": None}, {"extracted": {"text": "水泵"}}):
        with pytest.raises(ExtractionCrashed):
            result_of(nothing)


def test_an_error_keeps_its_code_message_and_details() -> None:
    with pytest.raises(Encrypted, match="a password") as caught:
        result_of(received(error_message(Encrypted("it needs a password", page=3))))
    assert caught.value.details == {"page": 3}
