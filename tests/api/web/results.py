"""Results of evaluations as `fuzi evaluate` keeps them, small."""

from __future__ import annotations

from typing import Any

from service.evaluate.figures.measures import METRICS
from tests.api.web.conftest import HOSTILE


def answered(rank: int | None) -> dict[str, Any]:
    """One question's answer whose first right passage has this rank."""
    share = 1 / rank if rank else 0.0
    figures = {"hit@1": float(rank == 1), "hit@5": float(share > 0), "hit@10": float(share > 0), "mrr@10": share}
    return {"first_rank": rank, "metrics": {**figures, "ndcg@10": share}}


def result(name: str, **changed: Any) -> dict[str, Any]:
    """A result with two stages and two questions, of which the reranker answers one worse."""
    metrics = {metric: {"value": 0.75, "low": 0.5, "high": 1.0} for metric in METRICS}
    settings = {
        "split": {"strategy": "auto"},
        "search": {"vector_weight": 70.0, "fts_weight": 30.0, "rrf_k": 60, "candidates": 50, "top_n": 5},
        "rerank": {"provider": "auto"},
    }
    times = {step: {"p50": 1.5, "p95": 4.0} for step in ("embed", "retrieve", "expand", "total")} | {"rerank": None}
    stage = {"metrics": metrics, "timings_ms": times}
    ranks = [("电池保修多久？", 1, 1), (HOSTILE, 2, None)]
    return {
        "format": 1,
        "name": name,
        "created_at": "2026-11-30T10:00:00+00:00",
        "corpus": {"documents": 6, "parents": 12, "children": 34, "characters": 900, "sha256": "00"},
        "question_count": 2,
        "questions_sha256": "01",
        "model": {"provider": "local", "name": "multilingual-e5-small", "dimension": 384},
        "reranker": "local",
        "settings": settings,
        "versions": {"fuzi": "0.1.0"},
        "seed": 7,
        "confidence": 0.95,
        "notices": [],
        "stages": {"rrf": stage, "rerank": stage},
        "questions": [
            {
                "id": str(number),
                "text": text,
                "stages": {"rrf": answered(fused), "rerank": answered(reranked)},
            }
            for number, (text, fused, reranked) in enumerate(ranks)
        ],
        **changed,
    }


def with_ranks(name: str, stage: str, ranks: list[int | None], **changed: Any) -> dict[str, Any]:
    """A result of one stage with a question for each rank."""
    whole = result(name)
    texts = [HOSTILE if number == 0 else f"问题 {number}" for number in range(len(ranks))]
    questions = [
        {"id": str(number), "text": text, "stages": {stage: answered(rank)}}
        for number, (text, rank) in enumerate(zip(texts, ranks, strict=True))
    ]
    figures = {"stages": {stage: whole["stages"]["rrf"]}, "questions": questions, "question_count": len(ranks)}
    return whole | figures | changed
