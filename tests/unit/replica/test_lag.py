"""The lag in seconds is never understated, and is unknown until it can be known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.db.replica.lag import LagClock

type Steps = list[tuple[float, int, int]]
"""Seconds that pass, bytes that the primary writes in them, bytes that the replica applies in them."""

steps = st.lists(st.tuples(st.floats(0.01, 10), st.integers(0, 5), st.integers(0, 8)), min_size=1, max_size=60)


@given(st.integers(0, 50), steps)
def test_never_fresher_than_it_is(behind_at_first: int, walk: Steps) -> None:
    clock, now, written = LagClock(), 0.0, 100
    applied = written - behind_at_first
    history = [(now, written)]
    clock.mark(now, written)
    for passed, writes, applies in walk:
        now += passed
        written += writes
        applied = min(written, applied + applies)
        history.append((now, written))
        clock.mark(now, written)
        seconds = clock.seconds(now, applied)
        # since then the primary has written something that the replica has not applied
        stale_since = next((moment for moment, position in history if position > applied), None)
        if applied < 100:
            assert seconds is None, "it may be hours behind"
        elif stale_since is not None:
            assert seconds is not None
            assert seconds >= now - stale_since
        else:
            assert seconds == 0


def test_a_quiet_primary_grows_no_lag() -> None:
    clock = LagClock()
    for now in range(10):
        clock.mark(float(now), 7)
        assert clock.seconds(float(now), 7) == 0


def test_a_replica_that_stands_still_is_forgotten_nothing_of() -> None:
    """However long it stands still, its lag grows on, and ends when it has come up."""
    clock = LagClock()
    clock.mark(0.0, 0)
    assert clock.seconds(0.0, 0) == 0
    for now in range(1, 10_000):
        clock.mark(float(now), now)
    assert clock.seconds(9_999.0, 0) == 9_999
    assert clock.seconds(9_999.0, 9_999) == 0
