"""The fusion in numbers against the formula written out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.evaluate.tune.fusion import Fusion, fused_order, legs_of, reciprocal_ranks
from service.types import Candidate

DEPTH = 10
FUSIONS = st.builds(
    Fusion,
    vector_weight=st.sampled_from([0.0, 1.0, 30.0, 50.0, 70.0]),
    fts_weight=st.sampled_from([0.0, 1.0, 30.0, 50.0, 70.0]),
    rrf_k=st.sampled_from([1, 10, 60]),
    candidates=st.integers(1, 25),
)


@st.composite
def rankings(draw: st.DrawFn) -> tuple[dict[int, int], list[int], list[int]]:
    """Parent of each child, and the children that each leg returned, best first."""
    parents = draw(st.lists(st.integers(1, 12), max_size=25))
    children = list(range(100, 100 + len(parents)))
    legs = [draw(st.permutations(children))[: draw(st.integers(0, len(children)))] for _ in range(2)]
    return dict(zip(children, parents, strict=True)), legs[0], legs[1]


def candidate(child: int, parent: int, vector_rank: int | None, fts_rank: int | None) -> Candidate:
    return Candidate(child, parent, vector_rank, None, fts_rank, None, 0.0)


def written_out(parents: dict[int, int], vector: list[int], fts: list[int], fusion: Fusion) -> list[int]:
    best: dict[int, float] = {}
    for child, parent in parents.items():
        score, found = 0.0, False
        for weight, leg in ((fusion.vector_weight, vector), (fusion.fts_weight, fts)):
            cut = leg[: fusion.candidates]
            if weight > 0 and child in cut:
                score += weight / (fusion.rrf_k + cut.index(child) + 1)
                found = True
        if found:
            best[parent] = max(best.get(parent, 0.0), score)
    return sorted(best, key=lambda parent: (-best[parent], parent))[:DEPTH]


@given(rankings(), st.lists(FUSIONS, min_size=1, max_size=6), st.sets(st.integers(1, 12)))
def test_order_and_ranks_are_those_of_the_formula(
    drawn: tuple[dict[int, int], list[int], list[int]], fusions: list[Fusion], relevant: set[int]
) -> None:
    parents, vector, fts = drawn
    legs = legs_of(
        [candidate(child, parents[child], rank, None) for rank, child in enumerate(vector, start=1)],
        [candidate(child, parents[child], None, rank) for rank, child in enumerate(fts, start=1)],
        relevant,
    )
    order, reciprocal = fused_order(legs, fusions, DEPTH), reciprocal_ranks(legs, fusions, DEPTH)
    assert order.shape == (len(fusions), DEPTH)
    for fusion, places, value in zip(fusions, order, reciprocal, strict=True):
        expected = written_out(parents, vector, fts, fusion)
        assert legs.parent_ids[places[places >= 0]].tolist() == expected
        first = next((1 / rank for rank, parent in enumerate(expected, start=1) if parent in relevant), 0.0)
        assert value == first


def test_two_empty_legs_find_nothing() -> None:
    legs = legs_of([], [], {1})
    assert np.array_equal(fused_order(legs, [Fusion(70, 30, 60, 50)], 3), [[-1, -1, -1]])
    assert reciprocal_ranks(legs, [Fusion(70, 30, 60, 50)], 3).tolist() == [0]
