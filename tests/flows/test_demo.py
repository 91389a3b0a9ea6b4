"""The demo with the real model: each question is found the way it promises."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr
from rich.console import Console

from service.config import DatabaseSettings, Settings
from service.demo.questions import QUESTIONS, DemoQuestion
from service.demo.run import DemoReport, run_demo
from service.demo.show import show_next_steps
from service.types import Hit, IngestOutcome, SearchResult
from service.wiring import open_services
from tests.conftest import Databases

type Demo = tuple[DemoReport, DemoReport, str]
"""First run, second run, what the first one printed."""


@pytest_asyncio.fixture(scope="module")
async def demo(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    home = tmp_path_factory.mktemp("demo")
    with databases.fresh() as dsn:
        settings = Settings(_env_file=None, home=Path(home), database=DatabaseSettings(url=SecretStr(dsn)))
        printed = Console(file=StringIO(), width=150)
        async with open_services(settings) as services:
            first = await run_demo(services, printed)
            second = await run_demo(services, Console(file=StringIO()))
        yield first, second, printed.file.getvalue()


def answering_hit(question: DemoQuestion, result: SearchResult) -> Hit:
    """The best hit of the first passage that holds the whole phrase."""
    passage = result.passages[0]
    start = passage.start + passage.content.index(question.phrase)
    end = start + len(question.phrase)
    return next(hit for hit in passage.hits if hit.start <= start and end <= hit.end)


def test_there_are_enough_chunks_for_ranks_to_mean_something(demo: Demo) -> None:
    first, _, _ = demo
    assert sum(result.child_count for result in first.ingested) >= 80
    assert {result.outcome for result in first.ingested} == {IngestOutcome.CREATED}


def test_a_second_run_takes_in_nothing_and_answers_the_same(demo: Demo) -> None:
    first, second, _ = demo
    assert {result.outcome for result in second.ingested} == {IngestOutcome.UNCHANGED}
    ids = [[passage.chunk_id for passage in result.passages] for _, result in first.answers]
    assert [[passage.chunk_id for passage in result.passages] for _, result in second.answers] == ids


@pytest.mark.parametrize("number", range(len(QUESTIONS)), ids=[question.nature for question in QUESTIONS])
def test_each_question_is_answered_first_and_by_the_leg_it_promises(demo: Demo, number: int) -> None:
    question, result = demo[0].answers[number]
    assert question == QUESTIONS[number]
    assert not result.warnings
    best = result.passages[0]
    assert best.source == question.source
    assert question.phrase in best.content
    candidate, carrier = answering_hit(question, result).candidate, best.hits[0].candidate
    match question.nature:
        case "vector":
            assert candidate.vector_rank == 1
            assert [hit.candidate.fts_rank for hit in best.hits] == [None] * len(best.hits)
        case "fts":
            assert candidate.fts_rank == 1
            assert candidate.vector_rank is None or candidate.vector_rank > 5
        case "both":
            assert carrier.vector_rank is not None
            assert carrier.fts_rank is not None
            assert max(carrier.vector_rank, carrier.fts_rank) <= 5


def test_everything_is_printed(demo: Demo) -> None:
    first, _, printed = demo
    for result in first.ingested:
        assert result.source in printed
    for question in QUESTIONS:
        assert question.query in printed
        assert question.phrase in printed.replace("\n   ", "")
    assert "fuzi ingest" in printed


@pytest.mark.parametrize("known", [True, False])
def test_a_shell_that_does_not_know_fuzi_is_told_how(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.prefix, "bin")) if known else "")
    printed = Console(file=StringIO(), width=200)
    show_next_steps(printed, "demo")
    assert (f". {sys.prefix}/bin/activate " in printed.file.getvalue()) is not known
