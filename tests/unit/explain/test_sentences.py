from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from service.explain.sentences import ordinal, sentence
from service.types import Candidate, Hit, LegExplanation, Passage

NOBODY = UUID(int=0)
BOTH = (LegExplanation(True, 70, 50), LegExplanation(True, 30, 20))


def passage(vector_rank: int | None, fts_rank: int | None, **more: Any) -> Passage:
    candidate = Candidate(1, 1, vector_rank, None, fts_rank, None, 1.0)
    given: dict[str, Any] = {"rank_before_rerank": 1, **more}
    return Passage(
        NOBODY, 1, NOBODY, "c", "s", None, "text/plain", {}, "内容", 0, 2, (), None, None, 1.0,
        hits=(Hit(NOBODY, 0, 2, candidate),), **given,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "written"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th")],
)
def test_ordinals(number: int, written: str) -> None:
    assert ordinal(number) == written


@pytest.mark.parametrize(
    ("rank", "given", "legs", "text"),
    [
        (
            1,
            passage(2, 1),
            BOTH,
            "1st by fused ranks: its best chunk is 2nd by meaning and 1st by words.",
        ),
        (
            3,
            passage(None, 1, rank_before_rerank=3),
            BOTH,
            "3rd by fused ranks: its best chunk is 1st by words, and not among the hits by meaning.",
        ),
        (
            1,
            passage(4, None, rank_before_rerank=6, rerank_score=0.9),
            (BOTH[0], LegExplanation(False, 0, 0)),
            "1st after reranking, 6th before: its best chunk is 4th by meaning (not looked for by words).",
        ),
        (
            2,
            passage(1, 1, rank_before_rerank=2, rerank_score=0.9),
            BOTH,
            "2nd before reranking and after it: its best chunk is 1st by meaning and 1st by words.",
        ),
        (
            4,
            passage(1, 1, rank_before_rerank=1),
            BOTH,
            "4th after reranking, which gave it no score, 1st before: its best chunk is 1st by meaning and "
            "1st by words.",
        ),
    ],
)
def test_a_sentence_says_what_is_known(
    rank: int, given: Passage, legs: tuple[LegExplanation, LegExplanation], text: str
) -> None:
    assert sentence(rank, given, legs) == text
