"""The context keeps its budget and its order, and never changes a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.answer import number_passages
from service.split import estimate_tokens
from tests.unit.answer.made import passage


def test_passages_are_numbered_in_their_order_while_they_fit() -> None:
    found = number_passages([passage("水" * 100), passage("电" * 100), passage("气" * 100)], 300, estimate_tokens)
    assert [(each.number, each.content[0]) for each in found] == [(1, "水"), (2, "电")]


def test_a_long_passage_is_narrowed_to_the_hit_that_carried_it() -> None:
    long = passage("水" * 300 + "电" * 50, start=7, hit=(300, 350))
    [found] = number_passages([long], 200, estimate_tokens)
    assert (found.start, found.end, found.content) == (307, 357, "电" * 50)


def test_the_first_is_there_whatever_its_length() -> None:
    [found] = number_passages([passage("水" * 5000, start=7)], 200, estimate_tokens)
    assert (found.start, found.content) == (7, "水" * 160)


LENGTHS = st.lists(st.tuples(st.integers(1, 900), st.integers(0, 10**6)), max_size=8)


@given(LENGTHS, st.integers(200, 3000))
def test_the_budget_holds_and_offsets_are_exact(lengths: list[tuple[int, int]], budget: int) -> None:
    passages = [passage("水" * length, start=start, hit=(0, max(1, length // 3))) for length, start in lengths]
    found = number_passages(passages, budget, estimate_tokens)
    assert [each.number for each in found] == list(range(1, len(found) + 1))
    assert [each.passage for each in found] == passages[: len(found)]
    assert bool(found) == bool(passages)
    assert sum(estimate_tokens(each.content) for each in found) <= budget
    for each in found:
        assert each.content == each.passage.content[each.start - each.passage.start : each.end - each.passage.start]
        assert len(each.content) == each.end - each.start > 0
