"""How often a key may ask."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access import RateLimit
from service.errors import RateLimited

KEY, OTHER = uuid4(), uuid4()


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def taken(limit: RateLimit, key: UUID | None) -> bool:
    try:
        limit.take(key)
    except RateLimited:
        return False
    return True


@given(per_minute=st.integers(1, 50), waits=st.lists(st.floats(0, 90), min_size=1, max_size=200))
def test_no_minute_lets_more_in_than_the_limit_and_what_was_saved_before(per_minute: int, waits: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock=clock)
    admitted = []
    for wait in waits:
        clock.seconds += wait
        if taken(limit, KEY):
            admitted.append(clock.seconds)
    assert admitted
    for start in admitted:
        within = sum(start <= at < start + 60 for at in admitted)
        assert within <= 2 * per_minute


@given(per_minute=st.integers(1, 1000))
def test_who_waits_as_long_as_told_is_let_in(per_minute: int) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock=clock)
    assert all(taken(limit, KEY) for _ in range(per_minute))
    with pytest.raises(RateLimited) as refused:
        limit.take(KEY)
    assert taken(limit, OTHER)
    clock.seconds += refused.value.details["retry_after_seconds"]
    assert taken(limit, KEY)


def test_without_a_limit_and_without_a_key_nobody_is_refused() -> None:
    assert all(taken(RateLimit(None), KEY) for _ in range(1000))
    limit = RateLimit(1)
    assert all(taken(limit, None) for _ in range(10))
