"""EVALUATE FLOW: read → take in → ask → judge → measure; of a data set, or with one's own questions on live data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import Settings
from service.db.models import Collection, Document
from service.db.spaces import active_space, reading
from service.errors import InvalidInput
from service.evaluate.figures.measures import Figures, measure
from service.evaluate.judged import judged_questions, write_data_set
from service.evaluate.read.data_set import read_data_set
from service.evaluate.read.own_questions import read_own_questions
from service.evaluate.read.records import Question, notice_about
from service.evaluate.run.ask import Answers, Stage, ask_all, request_of, warning_counts
from service.evaluate.run.database import collection_name, empty, evaluation_dsn, open_evaluation
from service.evaluate.run.relevant import relevant_counts
from service.evaluate.run.take_in import CorpusCounts, TakeInProgress, corpus_counts, take_in
from service.rerank import KeepOrder
from service.retrieve import look_around, resolve_scope
from service.store.judgements import judged_passages
from service.types import EmbeddingModel, Notice
from service.wiring import Services, open_services


class Watch(Protocol):
    """Hears how an evaluation goes on."""

    def taking_in(self, progress: TakeInProgress) -> None:
        """Documents are being taken in."""

    def asking(self, done: int, total: int) -> None:
        """So many of the questions are asked."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: ``stages`` None is every stage that does something, ``limit`` None every question."""

    stages: Sequence[Stage] | None = None
    limit: int | None = None
    at_once: int = 2


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Questions, their answers by stage, and the figures of each stage [question_count, metric_count]."""

    name: str
    place: Path
    settings: Settings
    model: EmbeddingModel
    reranker: str
    corpus: CorpusCounts
    corpus_sha256: str | None
    questions: Sequence[Question]
    relevant_counts: Sequence[int]
    answers: Sequence[Answers]
    figures: dict[Stage, Figures]
    notices: tuple[Notice, ...]


async def evaluate_data_set(
    settings: Settings, folder: Path, plan: Plan, watch: Watch, *, database: str | None = None, fresh: bool = False
) -> Evaluation:
    """Take a data set in, unless it is there already, and measure.

    Args:
        database: URL of the evaluation database; None makes one beside the configured one.
        fresh: cut and store the documents anew; vectors that are known are not computed again.

    Raises:
        InvalidInput: the data set is not right.
        Misconfigured: the database cannot be made, or is not one of an evaluation.
        FuziError: a document cannot be taken in, or a search failed.
    """
    data_set = read_data_set(folder)
    collection = collection_name(data_set, settings)
    dsn = await evaluation_dsn(settings, folder, database)
    async with open_evaluation(settings, dsn) as services:
        if fresh:
            await empty(services.engine)
        corpus = await take_in(services, data_set, collection, watch.taking_in)
        evaluation = await _ask(services, data_set.questions[: plan.limit], plan, [collection], watch)
    return replace(
        evaluation,
        name=data_set.name,
        place=folder,
        settings=settings,
        corpus=corpus,
        corpus_sha256=data_set.corpus_sha256,
        notices=data_set.notices + evaluation.notices,
    )


async def evaluate_own_questions(
    settings: Settings, file: Path, collection: str | None, plan: Plan, watch: Watch
) -> Evaluation:
    """Ask one's own questions on the live data; nothing is written there, not even the search log.

    Raises:
        InvalidInput: a line of the file is wrong, or nothing is stored that could be found.
        CollectionNotFound: there is no such collection.
    """
    questions = read_own_questions(file)
    async with _unlogged(settings) as services:
        evaluation = await _ask_what_is_stored(services, questions, collection, plan, watch)
    return replace(evaluation, name=file.stem, place=file)


async def evaluate_feedback(
    settings: Settings, folder: Path | None, collection: str | None, plan: Plan, watch: Watch
) -> Evaluation:
    """Ask the live data what people asked, and judge by what they called good; writes a data set of it to ``folder``.

    Raises:
        InvalidInput: nothing was called good, or the folder is not empty.
        CollectionNotFound: there is no such collection.
    """
    async with _unlogged(settings) as services:
        async with services.engine.connect() as connection:
            passages, unknown = await judged_passages(connection, collection)
            questions, notices = judged_questions(passages, unknown)
            if folder is not None:
                await write_data_set(connection, folder, questions, passages)
        evaluation = await _ask_what_is_stored(services, questions, collection, plan, watch)
    return replace(evaluation, name="feedback", place=folder or Path("feedback"), notices=notices + evaluation.notices)


@asynccontextmanager
async def _unlogged(settings: Settings) -> AsyncIterator[Services]:
    search = settings.search.model_copy(update={"log_share": 0.0})
    async with open_services(settings.model_copy(update={"search": search})) as services:
        yield services


async def _ask_what_is_stored(
    services: Services, questions: Sequence[Question], collection: str | None, plan: Plan, watch: Watch
) -> Evaluation:
    collections = None if collection is None else [collection]
    questions = questions[: plan.limit]
    async with reading(services.engine) as connection:
        request = request_of(Stage.RRF, questions[0].text, services.settings.search, collections)
        await resolve_scope(connection, request, await look_around(connection, request))
    corpus = await corpus_counts(services.engine, collections)
    if not corpus.children:
        raise InvalidInput(f"nothing is stored {'' if collection is None else f'in {collection} '}to be searched")
    questions, notices = await _with_stored_sources(services.engine, questions, collections)
    evaluation = await _ask(services, questions, plan, collections, watch)
    return replace(evaluation, corpus=corpus, notices=notices + evaluation.notices)


async def _ask(
    services: Services, questions: Sequence[Question], plan: Plan, collections: list[str] | None, watch: Watch
) -> Evaluation:
    notices: list[Notice] = []
    has_reranker = not isinstance(services.reranker, KeepOrder)
    stages = list(plan.stages or (stage for stage in Stage if has_reranker or stage is not Stage.RERANK))
    if Stage.RERANK in stages and not has_reranker:
        notices.append(Notice("no_reranker", "no reranker is configured, so the stage rerank repeats rrf"))
    answers = await ask_all(
        services.for_search,
        questions,
        stages,
        collections,
        at_once=plan.at_once,
        watch=lambda done: watch.asking(done, len(questions)),
    )
    counts = await relevant_counts(services.engine, questions, answers, collections)
    unanswerable = [question.id for question, count in zip(questions, counts, strict=True) if count == 0]
    if unanswerable:
        notices.append(
            notice_about(
                "out_of_reach", "questions count as not found, since no passage holds a whole answer", unanswerable
            )
        )
    for (stage, code), count in sorted(warning_counts(answers).items()):
        notices.append(Notice(code, f"{count} searches of the stage {stage} had the warning {code}"))
    async with services.engine.connect() as connection:
        model = (await active_space(connection)).model
    return Evaluation(
        name="",
        place=Path(),
        settings=services.settings,
        model=model,
        reranker="none" if not has_reranker else type(services.reranker).__name__,
        corpus=CorpusCounts(0, 0, 0, 0),
        corpus_sha256=None,
        questions=questions,
        relevant_counts=counts,
        answers=answers,
        figures={stage: measure([asked[stage].credited for asked in answers], counts) for stage in stages},
        notices=tuple(notices),
    )


async def _with_stored_sources(
    engine: AsyncEngine, questions: Sequence[Question], collections: list[str] | None
) -> tuple[tuple[Question, ...], tuple[Notice, ...]]:
    """Spell expected sources as they are stored: a file name stands for every source that ends with it."""
    statement = select(Document.source).join(Collection, Collection.id == Document.collection_id)
    if collections is not None:
        statement = statement.where(Collection.name.in_(collections))
    async with engine.connect() as connection:
        stored = set(await connection.scalars(statement.where(Document.text.is_not(None))))
    by_name: dict[str, list[str]] = {}
    for source in sorted(stored):
        by_name.setdefault(source.rsplit("/", 1)[-1], []).append(source)
    found, unknown = [], []
    for question in questions:
        documents: dict[str, None] = {}
        for source in question.documents:
            matches = [source] if source in stored else by_name.get(source, [])
            if not matches:
                unknown.append(f"{source} ({question.id})")
            # one that is not stored stays, and is never found
            documents |= dict.fromkeys(matches or [source])
        found.append(replace(question, documents=tuple(documents)))
    notices = (notice_about("unknown_sources", "expected sources are not stored", unknown),) if unknown else ()
    return tuple(found), notices
