"""Why a passage stands where it does, in one plain sentence that is true whatever the numbers are."""

from __future__ import annotations

from service.types import LegExplanation, Passage

_NEAREST, _WORDS = "by meaning", "by words"


def sentence(rank: int, passage: Passage, legs: tuple[LegExplanation, LegExplanation]) -> str:
    """Return the sentence for one passage; ``legs`` are the vector leg and the fts leg."""
    return f"{_place(rank, passage)}: {_found(passage, legs)}."


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st …"""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _place(rank: int, passage: Passage) -> str:
    before = passage.rank_before_rerank
    has_score = passage.rerank_score is not None
    if rank != before:
        unscored = "" if has_score else ", which gave it no score"
        return f"{ordinal(rank)} after reranking{unscored}, {ordinal(before)} before"
    return f"{ordinal(rank)} {'before reranking and after it' if has_score else 'by fused ranks'}"


def _found(passage: Passage, legs: tuple[LegExplanation, LegExplanation]) -> str:
    candidate = passage.hits[0].candidate
    ranks = ((candidate.vector_rank, _NEAREST, legs[0]), (candidate.fts_rank, _WORDS, legs[1]))
    found = [f"{ordinal(rank)} {how}" for rank, how, leg in ranks if leg.asked and rank is not None]
    absent = [how for rank, how, leg in ranks if leg.asked and rank is None]
    unasked = [how for _, how, leg in ranks if not leg.asked]
    text = f"its best chunk is {' and '.join(found)}"
    if absent:
        text += f", and not among the hits {absent[0]}"
    if unasked:
        text += f" (not looked for {unasked[0]})"
    return text
