"""Questions of one's own on what is stored; nothing is written to the database."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from service.config import Settings
from service.errors import CollectionNotFound, InvalidInput
from service.evaluate.figures.measures import METRICS
from service.evaluate.read.data_set import read_data_set
from service.evaluate.run.ask import Stage
from service.evaluate.run.evaluation import Evaluation, Plan, evaluate_feedback, evaluate_own_questions
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


_JUDGED = """
    insert into rag.feedback (search_id, chunk_id, verdict, query, collection_id, document_id, source, content)
    select gen_random_uuid(), p.chunk_id, %s, %s, d.collection_id, d.id, d.source, p.content
    from rag.parent_chunk as p
    join rag.document as d on d.id = p.document_id
    where d.source = %s
"""


async def test_what_users_judged_is_asked_again_and_becomes_a_data_set(filled: Settings, tmp_path: Path) -> None:
    assert filled.database.url is not None
    with psycopg.connect(filled.database.url.get_secret_value(), autocommit=True) as connection:
        for verdict, query, source in (
            ("good", "电池保修多久？", "handbook/warranty.txt"),
            ("bad", "电池保修多久？ ", "handbook/mail.txt"),
            ("good", "谁要戴安全帽？", "handbook/visitors.txt"),
            ("bad", "谁要戴安全帽？", "handbook/visitors.txt"),
            ("good", None, "handbook/pump.txt"),
        ):
            connection.execute(_JUDGED, [verdict, query, source])
        folder = tmp_path / "judged"
        evaluation = await evaluate_feedback(filled, folder, "rules", PLAN, Listener())
        with pytest.raises(InvalidInput, match="not empty"):
            await evaluate_feedback(filled, folder, None, PLAN, Listener())
        connection.execute("delete from rag.feedback where query = '电池保修多久？'")
        with pytest.raises(InvalidInput, match="nothing to ask"):
            await evaluate_feedback(filled, None, None, PLAN, Listener())
        connection.execute("delete from rag.feedback")
    (question,) = evaluation.questions
    assert (evaluation.name, question.text, question.documents) == (
        "feedback", "电池保修多久？", ("handbook/warranty.txt",),
    )  # fmt: skip
    assert evaluation.figures[Stage.FTS].tolist() == [pytest.approx([1] * len(METRICS))]
    assert [notice.code for notice in evaluation.notices] == ["unknown_queries", "no_good_passage"]
    written = read_data_set(folder)
    assert [document.id for document in written.documents] == ["rules/handbook/mail.txt", "rules/handbook/warranty.txt"]
    assert [(each.id, each.text, each.documents) for each in written.questions] == [
        (question.id, question.text, ("rules/handbook/warranty.txt",))
    ]
