"""TUNE FLOW: take in → ask each leg once → try fusions in numbers → search with the best on the held-out half."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.config import SearchSettings, Settings
from service.evaluate.figures.judging import Judge
from service.evaluate.figures.measures import DEPTH, METRICS, Figures, measure
from service.evaluate.read.data_set import read_data_set
from service.evaluate.read.records import DataSet, Question
from service.evaluate.run.ask import AskWatch, Stage, ask_all, request_of, several_at_once
from service.evaluate.run.database import collection_name, evaluation_dsn, open_evaluation
from service.evaluate.run.evaluation import Watch
from service.evaluate.run.relevant import relevant_counts
from service.evaluate.run.take_in import take_in
from service.evaluate.tune.choice import Setting, best_column, defaults_of, fusions_to_try, halves
from service.evaluate.tune.fusion import Fusion, Legs, legs_of, reciprocal_ranks
from service.rerank import KeepOrder
from service.search import SearchParts, search
from service.types import Candidate, FtsTerms
from service.wiring import Services

type Asked = tuple[int, FtsTerms]
"""``candidates`` of both legs, and what the fts leg looks for."""

METRIC = "mrr@10"
"""What is tuned: how high the first answer stands, which is what a person notices."""


@dataclass(frozen=True, slots=True)
class TunePlan:
    """What to try; ``embedding_text`` also takes everything in with the other text to embed."""

    embedding_text: bool = False
    limit: int | None = None
    split_seed: int = 0
    at_once: int = 2


@dataclass(frozen=True, slots=True)
class Tried:
    """A setting with its mean over the sets on the tuning half, and the mean of each set."""

    setting: Setting
    mean: float
    by_set: dict[str, float]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Figures on the held-out half by set and stage, from real searches: [question_count, metric_count]."""

    setting: Setting
    figures: dict[str, dict[Stage, Figures]]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was tried, in order of the sweep with the present setting first, and both finalists on the other half."""

    question_counts: dict[str, tuple[int, int]]
    tried: tuple[Tried, ...]
    best: Setting
    present: HeldOut
    chosen: HeldOut | None
    last_stage: Stage


async def tune(settings: Settings, folders: Sequence[Path], plan: TunePlan, watch: Watch) -> Tuning:
    """Find out which settings answer the questions of data sets best, and whether that holds for other questions.

    Raises:
        FuziError: see `evaluate_data_set`.
    """
    sets = {folder: _limited(read_data_set(folder), plan.limit) for folder in folders}
    names = _names(list(sets))
    present = Setting(defaults_of(settings.search), settings.embed.heading_context)
    fusions = fusions_to_try(settings.search)
    contexts = [present.heading_context] + ([not present.heading_context] if plan.embedding_text else [])
    columns = [Setting(fusion, context) for context in contexts for fusion in fusions]
    figures: dict[Path, NDArray[np.float64]] = {}
    for folder, data_set in sets.items():
        swept = [
            await _sweep(settings, folder, data_set, context, fusions, plan=plan, watch=watch) for context in contexts
        ]
        figures[folder] = np.concatenate(swept, axis=1)
    parts = {folder: halves(len(data_set.questions), plan.split_seed) for folder, data_set in sets.items()}
    tuning = {folder: figures[folder][parts[folder][0]] for folder in sets}
    tried = tuple(
        Tried(
            setting,
            float(np.mean([each[:, column].mean() for each in tuning.values()])),
            {names[folder]: float(each[:, column].mean()) for folder, each in tuning.items()},
        )
        for column, setting in enumerate(columns)
    )
    best = columns[best_column(list(tuning.values()))]
    held_out = {
        folder: replace(data_set, questions=tuple(data_set.questions[row] for row in parts[folder][1]))
        for folder, data_set in sets.items()
    }
    finalists = [
        await _search_with(settings, setting, held_out, names, plan=plan, watch=watch)
        for setting in dict.fromkeys((present, best))
    ]
    return Tuning(
        {names[folder]: (len(parts[folder][0]), len(parts[folder][1])) for folder in sets},
        tried,
        best,
        finalists[0],
        finalists[1] if len(finalists) > 1 else None,
        list(next(iter(finalists[0].figures.values())))[-1],
    )


@asynccontextmanager
async def _opened(
    settings: Settings, folder: Path, data_set: DataSet, heading_context: bool, watch: Watch
) -> AsyncIterator[tuple[Services, str]]:
    embed = settings.embed.model_copy(update={"heading_context": heading_context})
    changed = settings.model_copy(update={"embed": embed})
    collection = collection_name(data_set, changed)
    dsn = await evaluation_dsn(changed, folder, None)
    async with open_evaluation(changed, dsn) as services:
        await take_in(services, data_set, collection, watch.taking_in)
        yield services, collection


async def _sweep(
    settings: Settings,
    folder: Path,
    data_set: DataSet,
    heading_context: bool,
    fusions: Sequence[Fusion],
    *,
    plan: TunePlan,
    watch: Watch,
) -> NDArray[np.float64]:
    """Reciprocal ranks of all questions with all fusions, [question_count, fusion_count]."""
    total = len(data_set.questions)
    async with _opened(settings, folder, data_set, heading_context, watch) as (services, collection):
        legs = await ask_legs(
            services.for_search,
            data_set.questions,
            collection,
            asked=[asked_of(fusion) for fusion in fusions],
            at_once=plan.at_once,
            watch=lambda done: watch.asking(done, total),
        )
    figures = np.empty((total, len(fusions)))
    for asked in dict.fromkeys(map(asked_of, fusions)):
        columns = [column for column, fusion in enumerate(fusions) if asked_of(fusion) == asked]
        some = [fusions[column] for column in columns]
        figures[:, columns] = [reciprocal_ranks(each[asked], some, DEPTH) for each in legs]
    return figures


def asked_of(fusion: Fusion) -> Asked:
    """What the legs have to be asked for a fusion."""
    return fusion.candidates, fusion.fts_terms


async def ask_legs(
    parts: SearchParts,
    questions: Sequence[Question],
    collection: str,
    *,
    asked: Sequence[Asked],
    at_once: int,
    watch: AskWatch,
) -> list[dict[Asked, Legs]]:
    """Ask each leg alone for its best child chunks of every question; the answers by what was ``asked``.

    The vector leg is asked once, its first rows are those of a smaller number. The fts leg is asked for each number of
    candidates: where very many rows have equal scores its first rows may be others.
    """
    different = list(dict.fromkeys(asked))

    async def ask(question: Question) -> dict[Asked, Legs]:
        return await _legs(parts, question, collection, different)

    return await several_at_once(questions, ask, at_once, watch)


async def _legs(parts: SearchParts, question: Question, collection: str, asked: Sequence[Asked]) -> dict[Asked, Legs]:
    judge, relevant = Judge(question), set[int]()

    async def found(stage: Stage, candidates: int, fts_terms: FtsTerms) -> list[Candidate]:
        request = request_of(stage, question.text, parts.settings, [collection])
        # as many passages as chunks: none is cut off
        given = request.given | {"candidates", "fts_terms"}
        request = replace(request, candidates=candidates, top_n=candidates, fts_terms=fts_terms, given=given)
        result = await search(parts, request)
        relevant.update(each.parent_id for each in result.passages if judge.counts(each.source, each.content))
        return [hit.candidate for each in result.passages for hit in each.hits]

    vector = await found(Stage.VECTOR, max(candidates for candidates, _ in asked), "both")
    fts = {each: await found(Stage.FTS, *each) for each in asked}
    return {each: legs_of(vector, fts[each], relevant) for each in asked}


async def _search_with(
    settings: Settings,
    setting: Setting,
    sets: dict[Path, DataSet],
    names: dict[Path, str],
    *,
    plan: TunePlan,
    watch: Watch,
) -> HeldOut:
    """Ask the questions of every set as users would, with a setting in force."""
    figures: dict[str, dict[Stage, Figures]] = {}
    for folder, data_set in sets.items():
        total = len(data_set.questions)
        async with _opened(settings, folder, data_set, setting.heading_context, watch) as (services, collection):
            stages = [Stage.RRF]
            if not isinstance(services.reranker, KeepOrder):
                stages.append(Stage.RERANK)
            parts = replace(services.for_search, settings=with_fusion(settings.search, setting.fusion))
            answers = await ask_all(
                parts,
                data_set.questions,
                stages,
                [collection],
                at_once=plan.at_once,
                watch=lambda done, total=total: watch.asking(done, total),  # type: ignore[misc]
            )
            counts = await relevant_counts(services.engine, data_set.questions, answers, [collection])
        figures[names[folder]] = {
            stage: measure([asked[stage].credited for asked in answers], counts) for stage in stages
        }
    return HeldOut(setting, figures)


def with_fusion(settings: SearchSettings, fusion: Fusion) -> SearchSettings:
    """Search settings with another fusion."""
    return settings.model_copy(
        update={
            "vector_weight": fusion.vector_weight,
            "fts_weight": fusion.fts_weight,
            "rrf_k": fusion.rrf_k,
            "candidates": fusion.candidates,
            "fts_terms": fusion.fts_terms,
            "log_share": 0.0,
        }
    )


def column_of(figures: Figures) -> NDArray[np.float64]:
    """The tuned metric of each question."""
    return figures[:, METRICS.index(METRIC)]


def _limited(data_set: DataSet, limit: int | None) -> DataSet:
    return replace(data_set, questions=data_set.questions[:limit])


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """Short names of the sets; the whole path where two are called the same."""
    short = [folder.resolve().name for folder in folders]
    return {
        folder: name if short.count(name) == 1 else str(folder) for folder, name in zip(folders, short, strict=True)
    }
