"""The fusion of `rag.hybrid_search` in numbers of its own, for many settings at once.

A test holds it to the SQL function: the same order of parents, ties included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.types import Candidate, FtsTerms

type Ids = NDArray[np.int64]
type Ranks = NDArray[np.float64]  # from 1, nan where the leg did not return the child


@dataclass(frozen=True, slots=True)
class Fusion:
    """Settings of one fusion; ``fts_terms`` is what the fts leg was asked for, which the arithmetic leaves to it."""

    vector_weight: float
    fts_weight: float
    rrf_k: int
    candidates: int
    fts_terms: FtsTerms = "both"


@dataclass(frozen=True, slots=True)
class Legs:
    """What both legs returned for one question, a row a child chunk, ordered by parent id.

    ``first_rows`` are the rows where the next parent begins; ``relevant`` says of each parent whether it counts.
    """

    parent_ids: Ids
    first_rows: Ids
    vector_ranks: Ranks
    fts_ranks: Ranks
    relevant: NDArray[np.bool_]


def legs_of(vector: Iterable[Candidate], fts: Iterable[Candidate], relevant_parents: set[int]) -> Legs:
    """Join the rows of two searches that asked one leg each."""
    rows: dict[int, list[float]] = {}
    for column, candidates in ((1, vector), (2, fts)):
        for each in candidates:
            rank = each.vector_rank if column == 1 else each.fts_rank
            if rank is not None:
                rows.setdefault(each.child_id, [each.parent_id, np.nan, np.nan])[column] = rank
    table = np.array(sorted(rows.values(), key=lambda row: row[0])).reshape(-1, 3)
    parents = table[:, 0].astype(np.int64)
    unique, first_rows = np.unique(parents, return_index=True)
    relevant = np.array([int(parent) in relevant_parents for parent in unique], dtype=np.bool_)
    return Legs(unique, first_rows, table[:, 1], table[:, 2], relevant)


def fused_order(legs: Legs, fusions: Sequence[Fusion], depth: int) -> NDArray[np.int64]:
    """Places in ``legs.parent_ids`` of the best parents, [fusion_count, depth]; -1 when there is none.

    Score of a child: ``vector_weight / (rrf_k + vector_rank) + fts_weight / (rrf_k + fts_rank)``, absence adds 0, a
    weight of 0 leaves the leg out; of a parent that of its best child. Ties: smaller parent id first.
    """
    order = np.full((len(fusions), depth), -1)
    if not len(legs.parent_ids):
        return order
    columns = [np.array([getattr(each, name) for each in fusions], dtype=np.float64)[:, None] for name in _FIELDS]
    vector_weight, fts_weight, rrf_k, candidates = columns
    scores = np.full((len(fusions), len(legs.vector_ranks)), -np.inf)
    shares = np.zeros_like(scores)
    for weight, ranks in ((vector_weight, legs.vector_ranks), (fts_weight, legs.fts_ranks)):
        there = (ranks <= candidates) & (weight > 0)  # nan compares as false
        shares += np.where(there, weight / (rrf_k + ranks), 0)
        scores[there] = 0
    parents = np.maximum.reduceat(scores + shares, legs.first_rows, axis=1)
    best = np.argsort(-parents, axis=1, kind="stable")[:, :depth]  # stable: equal scores stay in order of id
    found = np.take_along_axis(parents, best, axis=1) > -np.inf
    order[:, : best.shape[1]] = np.where(found, best, -1)
    return order


def reciprocal_ranks(legs: Legs, fusions: Sequence[Fusion], depth: int) -> NDArray[np.float64]:
    """Reciprocal rank of the first parent that counts within ``depth``, for each fusion."""
    order = fused_order(legs, fusions, depth)
    hits = np.zeros_like(order, dtype=np.bool_)
    hits[order >= 0] = legs.relevant[order[order >= 0]]
    return np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0.0)


_FIELDS = ("vector_weight", "fts_weight", "rrf_k", "candidates")
