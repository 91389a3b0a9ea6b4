"""Questions go through the search flow, each stage of it on its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from service.config import SearchSettings
from service.evaluate.figures.judging import Judge
from service.evaluate.figures.measures import DEPTH
from service.evaluate.read.records import Question
from service.search import SearchParts, search
from service.types import SearchRequest, SearchResult


class Stage(StrEnum):
    """What is measured: one leg alone, both fused, and the whole with its reranker."""

    VECTOR = "vector"
    FTS = "fts"
    RRF = "rrf"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage in an answer, with its span in the document; ``counts`` says whether it answers."""

    source: str
    start: int
    end: int
    parent_id: int
    counts: bool


@dataclass(frozen=True, slots=True)
class StageAnswer:
    """What a stage answered to a question: the ten best passages and the milliseconds of the steps."""

    passages: tuple[Ranked, ...]
    timings_ms: Mapping[str, float]
    warnings: tuple[str, ...]

    @property
    def credited(self) -> list[bool]:
        """Whether the passage counts, by rank."""
        return [passage.counts for passage in self.passages]


type Answers = dict[Stage, StageAnswer]
type AskWatch = Callable[[int], None]
"""Hears how many questions are done."""


def request_of(
    stage: Stage, query: str, settings: SearchSettings, collections: Sequence[str] | None = None
) -> SearchRequest:
    """The search that a user's question would become, reduced to a stage."""
    return SearchRequest(
        query=query,
        top_n=DEPTH,
        candidates=settings.candidates,
        vector_weight=0 if stage is Stage.FTS else settings.vector_weight or _alone(stage, Stage.VECTOR),
        fts_weight=0 if stage is Stage.VECTOR else settings.fts_weight or _alone(stage, Stage.FTS),
        rrf_k=settings.rrf_k,
        rerank=stage is Stage.RERANK,
        collections=collections,
    )


async def ask_all(
    parts: SearchParts,
    questions: Sequence[Question],
    stages: Sequence[Stage],
    collections: Sequence[str] | None,
    *,
    at_once: int,
    watch: AskWatch,
) -> list[Answers]:
    """Ask every question of every stage; the answers do not depend on how many are under way ``at_once``.

    Raises:
        FuziError: a search failed.
    """
    answers: list[Answers] = [{} for _ in questions]
    waiting = iter(list(enumerate(questions)))
    done = 0

    async def work() -> None:
        nonlocal done
        for number, question in waiting:
            judge = Judge(question)
            for stage in stages:
                result = await search(parts, request_of(stage, question.text, parts.settings, collections))
                answers[number][stage] = _answer(judge, result)
            _share_embedding_time(answers[number])
            done += 1
            watch(done)

    workers = [asyncio.create_task(work()) for _ in range(at_once)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return answers


def warning_counts(answers: Sequence[Answers]) -> Counter[tuple[Stage, str]]:
    """How many searches of which stage had which warning."""
    return Counter((stage, code) for asked in answers for stage, answer in asked.items() for code in answer.warnings)


def _answer(judge: Judge, result: SearchResult) -> StageAnswer:
    found = result.passages[:DEPTH]
    flags = judge.credit([(passage.source, passage.content) for passage in found])
    ranked = tuple(
        Ranked(passage.source, passage.start, passage.end, passage.parent_id, counts)
        for passage, counts in zip(found, flags, strict=True)
    )
    return StageAnswer(ranked, dict(result.timings_ms), tuple(warning.code for warning in result.warnings))


def _share_embedding_time(answers: Answers) -> None:
    """Charge every stage with the embedding of the question, which only the first one had to wait for."""
    embed_ms = max(answer.timings_ms.get("embed_ms", 0.0) for answer in answers.values())
    for stage, answer in answers.items():
        if stage is Stage.FTS:
            continue
        timings = dict(answer.timings_ms)
        timings["total_ms"] = timings["total_ms"] - timings.get("embed_ms", 0.0) + embed_ms
        answers[stage] = replace(answer, timings_ms={**timings, "embed_ms": embed_ms})


def _alone(stage: Stage, leg: Stage) -> float:
    return 1 if stage is leg else 0
