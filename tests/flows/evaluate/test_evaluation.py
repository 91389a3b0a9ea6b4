"""A small data set from files to figures, on a real database with the real model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from service.config import Settings
from service.errors import Conflict, Misconfigured, NoText
from service.evaluate.figures.measures import METRICS
from service.evaluate.kept.result import result_of_evaluation
from service.evaluate.read.data_set import read_data_set
from service.evaluate.run.ask import Stage
from service.evaluate.run.database import collection_name, drop_database, evaluation_dsn, open_evaluation
from service.evaluate.run.evaluation import Evaluation, Plan, evaluate_data_set
from tests.conftest import Databases
from tests.flows.evaluate.conftest import DOCUMENTS, Listener, write_set

LEGS = Plan((Stage.VECTOR, Stage.FTS, Stage.RRF), at_once=3)
NOW = datetime(2024, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Run:
    folder: Path
    evaluation: Evaluation
    heard: Listener
    state: list[Any]


def query(dsn: str, statement: str) -> list[Any]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(statement.encode()).fetchall()


def dsn_of(settings: Settings) -> str:
    assert settings.database.url is not None
    return settings.database.url.get_secret_value()


async def chunks_of(settings: Settings, folder: Path) -> list[Any]:
    dsn = await evaluation_dsn(settings, folder, None)
    return query(dsn, "select id, content, document_id, embedding::text from rag.child_chunk order by id")


@pytest_asyncio.fixture(scope="module")
async def run(live: Settings, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = write_set(tmp_path_factory.mktemp("sets") / "handbook")
    heard = Listener()
    evaluation = await evaluate_data_set(live, folder, LEGS, heard)
    return Run(folder, evaluation, heard, await chunks_of(live, folder))


def without_times(evaluation: Evaluation) -> dict[str, Any]:
    result = result_of_evaluation(evaluation, seed=3, now=NOW)
    for stage in result["stages"].values():
        del stage["timings_ms"]
    return result


def test_figures_are_those_of_the_passages_that_were_found(run: Run) -> None:
    evaluation = run.evaluation
    assert (evaluation.name, evaluation.corpus.documents) == ("handbook", len(DOCUMENTS))
    assert list(evaluation.figures) == [Stage.VECTOR, Stage.FTS, Stage.RRF]
    # one passage of q4's documents holds the answer, none of q5's
    assert list(evaluation.relevant_counts) == [1, 1, 1, 1, 0]
    assert [notice.code for notice in evaluation.notices] == ["out_of_reach"]
    by_question = dict(zip(["q1", "q2", "q3", "q4", "q5"], evaluation.figures[Stage.RRF].tolist(), strict=True))
    assert by_question["q2"] == pytest.approx([1] * len(METRICS))
    assert by_question["q5"] == [0] * len(METRICS)
    assert evaluation.figures[Stage.FTS][1].tolist() == pytest.approx([1] * len(METRICS))
    # six documents of one passage each: whatever the order, all are among ten
    assert evaluation.figures[Stage.VECTOR][:4, METRICS.index("hit@10")].tolist() == [1, 1, 1, 1]
    for asked in evaluation.answers:
        assert len(asked[Stage.VECTOR].passages) == len(DOCUMENTS)


def test_progress_and_times_are_told(run: Run) -> None:
    assert run.heard.asked[-1] == (5, 5)
    characters = sum(len(text) for _, text in DOCUMENTS.values())
    assert run.heard.taken[-1] == (len(DOCUMENTS), len(DOCUMENTS), characters)
    stages = result_of_evaluation(run.evaluation, seed=0, now=NOW)["stages"]
    assert stages["fts"]["timings_ms"]["total"]["p50"] > 0
    assert stages["vector"]["timings_ms"]["embed"]["p95"] >= stages["vector"]["timings_ms"]["embed"]["p50"] > 0


async def test_a_second_run_takes_in_nothing_and_has_the_same_figures(live: Settings, run: Run) -> None:
    heard = Listener()
    again = await evaluate_data_set(live, run.folder, LEGS, heard)
    assert without_times(again) == without_times(run.evaluation)
    assert heard.taken == []
    assert await chunks_of(live, run.folder) == run.state


async def test_a_new_database_has_the_same_figures_and_ids(live: Settings, run: Run) -> None:
    assert await drop_database(live, run.folder)
    assert not await drop_database(live, run.folder)
    again = await evaluate_data_set(live, run.folder, LEGS, Listener())
    assert without_times(again) == without_times(run.evaluation)
    ids = [(row[0], row[1]) for row in await chunks_of(live, run.folder)]
    assert ids == [(row[0], row[1]) for row in run.state]


async def test_another_way_of_cutting_takes_the_place_and_costs_no_vectors(live: Settings, run: Run) -> None:
    dsn = await evaluation_dsn(live, run.folder, None)
    known = query(dsn, "select count(*) from rag.embedding_cache")
    split = live.split.model_copy(update={"parent_size": 700})
    cut = live.model_copy(update={"split": split})
    evaluation = await evaluate_data_set(cut, run.folder, LEGS, Listener())
    assert query(dsn, "select name from rag.collection") == [(collection_name(read_data_set(run.folder), cut),)]
    assert query(dsn, "select count(*) from rag.embedding_cache") == known
    assert evaluation.corpus.documents == len(DOCUMENTS)
    assert evaluation.figures[Stage.RRF].tolist() == run.evaluation.figures[Stage.RRF].tolist()
    # and back: the ids start anew, so equal scores are ordered as before
    await evaluate_data_set(live, run.folder, LEGS, Listener())
    assert [row[:2] for row in await chunks_of(live, run.folder)] == [row[:2] for row in run.state]


async def test_the_users_database_and_the_search_logs_stay_empty(live: Settings, run: Run) -> None:
    for dsn in (dsn_of(live), await evaluation_dsn(live, run.folder, None)):
        assert query(dsn, "select count(*) from rag.search_log") == [(0,)]
    assert query(dsn_of(live), "select count(*) from rag.document") == [(0,)]
    assert not (live.home / "originals").exists()


async def test_a_database_with_other_documents_is_never_emptied(live: Settings, run: Run, databases: Databases) -> None:
    with databases.fresh() as dsn:
        with psycopg.connect(dsn) as connection:
            connection.execute("insert into rag.collection (name) values ('contracts')")
        with pytest.raises(Misconfigured, match="'contracts'"):
            await evaluate_data_set(live, run.folder, LEGS, Listener(), database=dsn, fresh=True)
        assert query(dsn, "select name from rag.collection") == [("contracts",)]


async def test_two_evaluations_do_not_share_a_database(live: Settings, run: Run) -> None:
    async with open_evaluation(live, await evaluation_dsn(live, run.folder, None)):
        with pytest.raises(Conflict, match="another `fuzi evaluate`"):
            await evaluate_data_set(live, run.folder, LEGS, Listener())


async def test_a_role_that_may_not_create_databases_is_told_the_way_out(live: Settings, run: Run) -> None:
    with psycopg.connect(dsn_of(live), autocommit=True) as connection:
        connection.execute("create role modest login password 'modest'")
        host, port = connection.info.host, connection.info.port
        try:
            url = f"postgresql://modest:modest@{host}:{port}/{connection.info.dbname}"
            modest = live.model_copy(update={"database": live.database.model_copy(update={"url": _secret(url)})})
            with pytest.raises(Misconfigured, match="--database URL"):
                await evaluate_data_set(modest, write_set(run.folder.parent / "other"), LEGS, Listener())
        finally:
            connection.execute("drop role modest")


async def test_a_document_that_cannot_be_taken_in_is_named(live: Settings, run: Run) -> None:
    folder = write_set(run.folder.parent / "broken", {**DOCUMENTS, "nothing": ("", "\u200b\u00ad")})
    with pytest.raises(NoText, match="the document nothing cannot be taken in"):
        await evaluate_data_set(live, folder, LEGS, Listener())
    assert await drop_database(live, folder)


def _secret(url: str) -> Any:
    from pydantic import SecretStr  # noqa: PLC0415

    return SecretStr(url)
