"""The reranker that is there without any setting."""

from __future__ import annotations

from dataclasses import replace

from service.config import RerankSettings
from service.rerank import create_reranker
from service.rerank.local import LocalReranker, rank
from service.rerank.pool import PooledReranker
from tests.unit.rerank.local.made_passages import passage

_ANSWER = "出差住宿标准为每天三百五十元，超出部分自理。"
_OTHER = "员工应当遵守公司的考勤制度，按时上下班。"


async def test_an_answer_comes_before_what_is_only_near() -> None:
    passages = [passage(_OTHER, at, distances=(0.15 + at / 100,), document=at) for at in range(1, 8)]
    passages.append(passage(_ANSWER, 8, distances=(0.12,), fts_score=9.0, document=8))
    ranked = await LocalReranker().rerank("出差住宿标准是多少？", passages, 3)
    assert ranked[0].content == _ANSWER
    assert len(ranked) == 3
    scores = [each.rerank_score for each in ranked]
    assert None not in scores
    assert scores == sorted(scores, reverse=True)
    assert ranked[0].rank_before_rerank == 8


def test_equal_passages_keep_the_fused_order() -> None:
    same = [replace(passage(_OTHER, 1, document=number), parent_id=number) for number in range(20)]
    ranked = rank("问题", same, 20)
    by_score: dict[float | None, list[int]] = {}
    for each in ranked:
        by_score.setdefault(each.rerank_score, []).append(each.parent_id)
    assert all(ids == sorted(ids) for ids in by_score.values())
    assert rank("问题", same, 20) == ranked


def test_few_passages_and_missing_legs_are_no_trouble() -> None:
    assert rank("问题", [], 5) == []
    assert [each.content for each in rank("？", [passage("", 1)], 5)] == [""]
    without_vectors = [passage(_OTHER, 1, distances=(), document=1), passage(_ANSWER, 2, distances=(), document=2)]
    assert rank("住宿标准", without_vectors, 1)[0].content == _ANSWER
    without_words = [
        passage(_OTHER, 1, fts_score=None, distances=(0.3,)),
        passage(_ANSWER, 2, fts_score=None, distances=(0.2,)),
    ]
    assert len(rank("hotel allowance", without_words, 5)) == 2


async def test_it_is_the_default_for_the_best_hundred() -> None:
    for provider in ("auto", "local"):
        reranker = create_reranker(RerankSettings(provider=provider))
        assert isinstance(reranker, PooledReranker)
        passages = [passage(_OTHER, at, document=at) for at in range(1, 131)]
        ranked = await reranker.rerank("考勤制度", passages, 130)
        assert [each.rerank_score is None for each in ranked] == [False] * 100 + [True] * 30
        await reranker.close()
