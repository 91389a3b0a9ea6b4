"""Milliseconds of steps, on a clock of our own."""

from __future__ import annotations

from service.steps import Steps


def test_a_word_adds_up_and_the_step_at_work_counts_so_far() -> None:
    now = 0.0
    steps = Steps(lambda: now)
    with steps.step("embed"):
        now += 1
    with steps.step("store"):
        now += 0.25
        assert steps.timings_ms() == {"embed_ms": 1000, "store_ms": 250, "total_ms": 1250}
    with steps.step("embed"):
        now += 2
        assert steps.current == "embed"
        assert steps.timings_ms() == {"embed_ms": 3000, "store_ms": 250, "total_ms": 3250}
    now += 1
    assert steps.timings_ms() == {"embed_ms": 3000, "store_ms": 250, "total_ms": 4250}
