"""GATHER FLOW: take in → ask without reranker → features and judgement of every passage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.config import Settings
from service.evaluate.figures.judging import Judge
from service.evaluate.read.data_set import read_data_set
from service.evaluate.read.records import Question
from service.evaluate.run.ask import Stage, request_of, several_at_once
from service.evaluate.run.database import collection_name, evaluation_dsn, open_evaluation
from service.evaluate.run.evaluation import Watch
from service.evaluate.run.take_in import take_in
from service.rerank.local.features import features
from service.search import SearchParts, search
from service.types import SearchRequest

POOL = 100
"""Passages that the reranker sees: `rerank.pool`."""

STAGES = (Stage.RRF, Stage.FTS, Stage.VECTOR)
"""Both legs, and each alone: a model trained on both only would lean on a leg that may be missing one day."""


@dataclass(frozen=True, slots=True)
class Example:
    """The passages of one search in fused order: ``rows`` [passage_count, feature_count], ``good`` [passage_count]."""

    rows: NDArray[np.float64]
    good: NDArray[np.bool_]


type Examples = dict[Stage, list[Example]]
"""By stage one for each question, in the order of the questions."""


async def gather(settings: Settings, folder: Path, watch: Watch, limit: int | None = None) -> Examples:
    """Ask the questions of a data set, the first ``limit`` or all, in an evaluation database of its own.

    Raises:
        FuziError: as `evaluate_data_set`.
    """
    data_set = read_data_set(folder)
    collection = collection_name(data_set, settings)
    dsn = await evaluation_dsn(settings, folder, None)
    async with open_evaluation(settings, dsn) as services:
        await take_in(services, data_set, collection, watch.taking_in)
        parts, questions = services.for_search, data_set.questions[:limit]

        async def ask(question: Question) -> list[Example]:
            requests = [request_of(stage, question.text, parts.settings, [collection]) for stage in STAGES]
            return [await _example(parts, question, request) for request in requests]

        asked = await several_at_once(questions, ask, 2, lambda done: watch.asking(done, len(questions)))
    return {stage: [examples[at] for examples in asked] for at, stage in enumerate(STAGES)}


async def _example(parts: SearchParts, question: Question, request: SearchRequest) -> Example:
    passages = (await search(parts, replace(request, top_n=POOL, rerank=False))).passages
    good = Judge(question).credit([(passage.source, passage.content) for passage in passages])
    return Example(features(question.text, passages), np.array(good, dtype=np.bool_))
