"""Metadata that jsonb cannot hold never reaches it (BR-030)."""

import pytest

from service.config import LimitSettings
from service.errors import InvalidMetadata, TooLarge
from service.store.metadata import parse_metadata

LIMITS = LimitSettings(max_metadata_bytes=1000, max_metadata_depth=4)


@pytest.mark.parametrize(
    "text",
    [
        '{"score": NaN}',
        '{"n": Infinity}',
        "[1,2]",
        '"x"',
        '{"a":',
        '{"n": 1e400}',
        '{"n": ' + "9" * 400 + "}",
        '{"a": ' * 6 + "1" + "}" * 6,
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(InvalidMetadata):
        parse_metadata(text, LIMITS)


def test_nul_and_lone_surrogates_are_taken_out() -> None:
    assert parse_metadata('{"a\\u0000": "x\\u0000y\\ud800"}', LIMITS) == {"a": "xy"}


def test_larger_than_the_limit() -> None:
    with pytest.raises(TooLarge):
        parse_metadata('{"a": "' + "字" * 400 + '"}', LIMITS)


@pytest.mark.parametrize("text", ['{"a\\u0000": 1, "a": 2}', '{"x": [{"\\ud800": 1, "": 2}]}'])
def test_no_value_is_lost_when_keys_become_one(text: str) -> None:
    with pytest.raises(InvalidMetadata, match="keys that differ only"):
        parse_metadata(text, LimitSettings())
