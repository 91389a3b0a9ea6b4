"""Metrics of ranked answers, by the reference implementations that ir-measures bundles."""

from __future__ import annotations

from collections.abc import Sequence

import ir_measures
import numpy as np
from ir_measures import RR, Success, nDCG
from numpy.typing import NDArray

type Figures = NDArray[np.float64]  # shape [question_count, metric_count], each 0 to 1, larger is better

_MEASURES = {
    "hit@1": Success @ 1,
    "hit@5": Success @ 5,
    "hit@10": Success @ 10,
    "mrr@10": RR @ 10,
    "ndcg@10": nDCG @ 10,
}
METRICS = tuple(_MEASURES)
DEPTH = 10


def measure(credited: Sequence[Sequence[bool]], relevant_counts: Sequence[int]) -> Figures:
    """Figures of each question, in the order of ``METRICS``.

    Args:
        credited: for each question, whether the passage at each rank counts; ranks after 10 are ignored.
        relevant_counts: for each question, how many passages would count if all were found; what nDCG compares with.
    """
    qrels, run = [], []
    for number, (flags, relevant_count) in enumerate(zip(credited, relevant_counts, strict=True)):
        question = str(number)
        found = [rank for rank, counts in enumerate(flags, start=1) if counts]
        # at least one, so that a question without any answer in reach counts as 0 and is not passed over
        unseen = max(relevant_count - len(found), 0 if found else 1)
        qrels += [ir_measures.Qrel(question, f"rank {rank}", 1) for rank in found]
        qrels += [ir_measures.Qrel(question, f"unseen {each}", 1) for each in range(unseen)]
        run += [ir_measures.ScoredDoc(question, f"rank {rank}", -rank) for rank in range(1, len(flags[:DEPTH]) + 1)]
    figures = np.zeros((len(credited), len(METRICS)))
    place = {measure: column for column, measure in enumerate(_MEASURES.values())}
    for each in ir_measures.iter_calc(list(place), qrels, run):
        figures[int(each.query_id), place[each.measure]] = each.value
    return figures


def first_rank(flags: Sequence[bool]) -> int | None:
    """Rank of the first passage that counts, from 1."""
    return next((rank for rank, counts in enumerate(flags, start=1) if counts), None)
