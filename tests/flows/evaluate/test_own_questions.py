"""Questions of one's own on what is stored; nothing is written to the database."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from service.config import Settings
from service.errors import CollectionNotFound, InvalidInput
from service.evaluate.figures.measures import METRICS
from service.evaluate.run.ask import Stage
from service.evaluate.run.evaluation import Evaluation, Plan, evaluate_own_questions
from service.flows.jobs import result_of
from service.flows.receive import Accepted, receive
from service.types import IngestRequest
from service.wiring import open_services
from service.worker import working
from tests.flows.evaluate.conftest import DOCUMENTS, Listener

PLAN = Plan((Stage.FTS, Stage.RRF))
CSV = """问题,来源,短语
电池保修多久？,warranty.txt,电池保修一年
ZF20817,,"密封圈"
谁要戴安全帽？,handbook/visitors.txt,
食堂几点开门？,menu.pdf,
"""


@pytest_asyncio.fixture(scope="module")
async def filled(live: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("uploads")
    async with open_services(live) as services, working(services):
        for name, (title, text) in DOCUMENTS.items():
            path = folder / f"{name}.txt"
            path.write_text(text)
            source = f"handbook/{path.name}"
            request = IngestRequest(path, source=source, file_name=path.name, collection="rules", title=title)
            received = await receive(services.for_receive, request)
            assert isinstance(received, Accepted)
            await result_of(services.engine, received)
    return live


async def ask(settings: Settings, folder: Path, content: str, collection: str | None = "rules") -> Evaluation:
    file = folder / "mine.csv"
    file.write_bytes(content.encode("gb18030"))
    return await evaluate_own_questions(settings, file, collection, PLAN, Listener())


async def test_questions_are_judged_by_source_phrase_or_both(filled: Settings, tmp_path: Path) -> None:
    evaluation = await ask(filled, tmp_path, CSV)
    assert evaluation.name == "mine"
    assert evaluation.corpus.documents == len(DOCUMENTS)
    # a file name stands for the source that ends with it
    assert [each.documents for each in evaluation.questions] == [
        ("handbook/warranty.txt",), (), ("handbook/visitors.txt",), ("menu.pdf",),
    ]  # fmt: skip
    assert list(evaluation.relevant_counts) == [1, 1, 1, 1]
    figures = evaluation.figures[Stage.FTS]
    assert figures[:3].tolist() == [pytest.approx([1] * len(METRICS))] * 3
    assert figures[3].tolist() == [0] * len(METRICS)
    (notice,) = evaluation.notices
    assert (notice.code, "menu.pdf (line 5)" in notice.message) == ("unknown_sources", True)


async def test_nothing_is_written(filled: Settings, tmp_path: Path) -> None:
    await ask(filled, tmp_path, CSV, collection=None)
    assert filled.database.url is not None
    with psycopg.connect(filled.database.url.get_secret_value()) as connection:
        assert connection.execute("select count(*) from rag.search_log").fetchone() == (0,)
        assert connection.execute("select name from rag.collection").fetchall() == [("rules",)]


async def test_an_unknown_collection_and_a_wrong_line_are_told(filled: Settings, tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFound, match="nowhere"):
        await ask(filled, tmp_path, CSV, collection="nowhere")
    with pytest.raises(InvalidInput, match="line 2: neither a source nor a phrase"):
        await ask(filled, tmp_path, "question,phrase\na,\n")
