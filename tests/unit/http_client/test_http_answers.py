"""Reading what providers say beside the answer: how long to wait, and errors in bodies."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.http_client import BodyError, body_error, retry_after_seconds

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3),
        ("0.5", 0.5),
        ("-1", 0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOON) == seconds


@given(st.text(max_size=40))
def test_retry_after_takes_any_rubbish(header: str) -> None:
    seconds = retry_after_seconds(header, NOON)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"data": []}, None),
        ([1, 2], None),
        (None, None),
        ({"error": None, "data": []}, None),
        ({"error": {"message": "slow down", "code": 429}}, BodyError("slow down", 429)),
        ({"error": {"message": "no", "code": "invalid_api_key"}}, BodyError("no", None)),
        ({"error": "model not found"}, BodyError("model not found", None)),
        ({"code": "Throttling", "message": "limit"}, BodyError("limit", None)),
        ({"status": 404, "detail": "Not found"}, BodyError("Not found", 404)),
        ({"code": 0, "message": "success", "data": []}, None),
        ({"code": "200", "message": "OK", "data": []}, None),
        ({"status": "ok", "message": "done"}, None),
        ({"code": 50000, "message": "system busy"}, BodyError("system busy", None)),
        ({"code": 0, "status": 503, "message": "busy"}, BodyError("busy", 503)),
        ({"message": "a normal answer may have one"}, None),
    ],
)
def test_error_bodies(body: Any, found: BodyError | None) -> None:
    assert body_error(body) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "code", "status", "message", "detail", "data"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(JSON)
@example({"code": float("inf"), "message": "x"})
def test_no_body_makes_the_search_for_errors_fail(body: Any) -> None:
    found = body_error(body)
    assert found is None or found.message
