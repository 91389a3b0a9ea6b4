"""Questions go through the search flow, each stage of it on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from service.config import SearchSettings
from service.evaluate.figures.judging import Judge
from service.evaluate.figures.measures import DEPTH
from service.evaluate.read.records import Question
from service.in_flight import in_flight
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
    """The search that a user's question would become, reduced to a stage; settings of its collection hold."""
    is_one_leg = stage in {Stage.VECTOR, Stage.FTS}
    return SearchRequest(
        query=query,
        top_n=DEPTH,
        candidates=settings.candidates,
        vector_weight=0 if stage is Stage.FTS else settings.vector_weight or _alone(stage, Stage.VECTOR),
        fts_weight=0 if stage is Stage.VECTOR else settings.fts_weight or _alone(stage, Stage.FTS),
        rrf_k=settings.rrf_k,
        fts_terms=settings.fts_terms,
        rerank=stage is Stage.RERANK,
        collections=collections,
        given=frozenset({"top_n", "vector_weight", "fts_weight"} if is_one_leg else {"top_n"}),
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

    async def ask(question: Question) -> Answers:
        judge, answers = Judge(question), dict[Stage, StageAnswer]()
        for stage in stages:
            result = await search(parts, request_of(stage, question.text, parts.settings, collections))
            answers[stage] = _answer(judge, result)
        return _with_shared_embedding(answers)

    return await several_at_once(questions, ask, at_once, watch)


async def several_at_once[Item, Result](
    items: Sequence[Item], work: Callable[[Item], Awaitable[Result]], at_once: int, watch: AskWatch
) -> list[Result]:
    """Results of the items, in their order; the first failure ends all."""
    results: dict[int, Result] = {}

    async def one(numbered: tuple[int, Item]) -> None:
        number, item = numbered
        results[number] = await work(item)
        watch(len(results))

    await in_flight(enumerate(items), at_once, one)
    return [results[number] for number in range(len(items))]


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


def _with_shared_embedding(answers: Answers) -> Answers:
    """Charge every stage with the embedding of the question, which only the first one had to wait for."""
    embed_ms = max(answer.timings_ms.get("embed_ms", 0.0) for answer in answers.values())
    return {
        stage: answer if stage is Stage.FTS else replace(answer, timings_ms=_charged(answer.timings_ms, embed_ms))
        for stage, answer in answers.items()
    }


def _charged(timings_ms: Mapping[str, float], embed_ms: float) -> Mapping[str, float]:
    total_ms = timings_ms["total_ms"] - timings_ms.get("embed_ms", 0.0) + embed_ms
    return {**timings_ms, "embed_ms": embed_ms, "total_ms": total_ms}


def _alone(stage: Stage, leg: Stage) -> float:
    return 1 if stage is leg else 0
