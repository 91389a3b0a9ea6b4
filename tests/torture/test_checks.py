"""The checks of a torture run can fail: what is planted here is what they have to find."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from service.extract import create_extractor
from tests.api.conftest import api_settings, opener, running
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, flow_settings, services_with
from tests.torture.checks import Checker
from tests.torture.clients.contents import Author
from tests.torture.clients.ledger import ABSENT, Ledger, Source, State
from tests.torture.clients.load import Client, check_versions
from tests.torture.clients.searches import SearchChecker

type Checked = tuple[Checker, Ledger, psycopg.Connection[Any]]


@pytest.fixture
def author() -> Author:
    return Author(random.Random(5))


@pytest.fixture
async def checked(author: Author, database: str, tmp_path: Path) -> AsyncIterator[Checked]:
    """Two documents that were taken in as the ledger says, and nothing wrong."""
    ledger = Ledger({name: Source(name) for name in ("a.txt", "b.txt", "never")})
    home = tmp_path / "home"
    async with services_with(flow_settings(database, home), HashEmbedder(384)) as services:
        for name in ("a.txt", "b.txt"):
            content = author.new()
            with ledger.sources[name].operation(content) as operation:
                await Library(services, tmp_path).put(name, content.data)
                operation.verdict = "done"
    checker = Checker(ledger, author.written, home / "originals")
    with psycopg.connect(database, autocommit=True) as connection:
        wrong, states = checker.documents(connection)
        assert wrong + checker.chunks(connection, completely=True) == []
        assert states == {"a.txt": State(0), "b.txt": State(1), "never": ABSENT}
        yield checker, ledger, connection


def _doubled(kind: LiteralString, ordinal: LiteralString) -> LiteralString:
    """Write the chunks of a.txt once more, each under its own id."""
    return f"""
        alter table rag.{kind} drop constraint {kind}_document_id_ordinal_key;
        create temporary table doubled on commit drop as
            select * from rag.{kind} where document_id = (select id from rag.document where source = 'a.txt');
        update doubled set id = id + 1000, chunk_id = gen_random_uuid(), ordinal = {ordinal};
        insert into rag.{kind} overriding system value select * from doubled
    """


_NEXT: LiteralString = "ordinal + (select count(*) from doubled)"
CHUNK_FAULTS: dict[LiteralString, str] = {
    "update rag.child_chunk set content = content || '!'": "child chunks that are not their text",
    "update rag.parent_chunk set content = content || '!'": "parent chunks that are not their text",
    "update rag.child_chunk set ordinal = ordinal + 7": "chunks doubled or with gaps",
    "delete from rag.child_chunk": "ready ones without",
    "update rag.child_chunk set end_offset = end_offset - 1, content = left(content, -1)": "rows in child_chunk, a new",
    "update rag.document set status = 'failed'": "chunks of documents that are not ready",
    _doubled("child_chunk", "ordinal"): "chunks doubled or with gaps",
    _doubled("parent_chunk", "ordinal"): "chunks doubled or with gaps",
    _doubled("child_chunk", _NEXT): "rows in child_chunk, a new split",
    _doubled("parent_chunk", _NEXT): "rows in parent_chunk, a new split",
}
_STUCK: LiteralString = "finished_at = null, status = 'embedding', heartbeat_at = now() - interval '1 hour'"
UNFINISHED_FAULTS: dict[LiteralString, str] = {
    f"update rag.job set {_STUCK} where source = 'a.txt'": "jobs that go on: 1",
    """
        insert into queue.procrastinate_jobs (queue_name, task_name, args, status)
        values ('small', 'ingest', '{}', 'doing')
    """: "entries in the queue: 1",
    "update rag.document set pending_key = 'rag/new' where source = 'a.txt'": "documents that wait for an upload: 1",
    "update rag.document set status = 'splitting' where source = 'a.txt'": "documents that wait for an upload: 1",
    "insert into rag.original_removal (object_key) values ('rag/old')": "originals to be deleted: 1",
    "delete from rag.bm25_sentinel where index_name = 'child_chunk_bm25'": "BM25 indexes without their sentinel: 1",
}


async def test_wrong_chunks_and_work_that_is_stuck_are_found(checked: Checked) -> None:
    checker, _ledger, connection = checked
    for statement, fault in CHUNK_FAULTS.items():
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
            assert fault in "\n".join(checker.chunks(connection, completely=True)), statement
    assert checker.chunks(connection, completely=True) == []
    with connection.transaction(force_rollback=True):  # already in the round that doubled it
        connection.execute(_doubled("child_chunk", _NEXT))
        assert "rows in child_chunk, a new split" in "\n".join(checker.chunks(connection, completely=False))

    assert checker.unfinished(connection) == []
    for statement, fault in UNFINISHED_FAULTS.items():
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
            assert [line.partition(", such as")[0] for line in checker.unfinished(connection)] == [fault], statement


async def test_a_row_that_only_bm25_has_lost_is_found(
    checked: Checked, author: Author, database: str, tmp_path: Path
) -> None:
    checker, ledger, connection = checked
    settings = api_settings(database, tmp_path)
    extractor = create_extractor(settings.extract)
    async with running(settings, opener(extractor, HashEmbedder(384))) as api:
        searches = SearchChecker(Client(api.http, ledger), author)
        await searches.check([*ledger.sources.values()], set(), completely=True)
        assert ledger.faults == []

        _lose_from_bm25(connection, author.written[0].phrases[-1])
        assert "BM25 indexes that lack rows" in "\n".join(checker.chunks(connection, completely=False))
        await searches.check([ledger.sources["a.txt"], ledger.sources["b.txt"]], set(), completely=False)
        assert len(ledger.faults) == 1
        assert ledger.faults.pop().startswith("the fts leg does not find a.txt by ")

        ledger.sources["b.txt"].visible.clear()  # as if it had been deleted
        await searches.check([], {1}, completely=False)
        assert {"the vector leg still finds v1, which is gone", "the fts leg still finds v1, which is gone"} < {
            *ledger.faults
        }
    await extractor.close()


def _lose_from_bm25(connection: psycopg.Connection[Any], phrase: str) -> None:
    """Write the child chunks with a phrase anew, into every index but one: what a crash does to the last rows."""
    ready: LiteralString = "update pg_index set indisready = {} where indexrelid = 'rag.child_chunk_bm25'::regclass"
    connection.execute(psycopg.sql.SQL(ready).format(False))
    with connection.transaction():
        connection.execute("create temporary table lost on commit drop as select * from rag.child_chunk where false")
        connection.execute("insert into lost select * from rag.child_chunk where content like %s", [f"%{phrase}%"])
        connection.execute("delete from rag.child_chunk where id in (select id from lost)")
        connection.execute("insert into rag.child_chunk overriding system value select * from lost")
    connection.execute(psycopg.sql.SQL(ready).format(True))


async def test_wrong_documents_and_originals_are_found(checked: Checked) -> None:
    checker, ledger, connection = checked

    def said() -> str:
        return "\n".join(checker.documents(connection)[0])

    originals = sorted(path for path in checker.originals.rglob("*") if path.is_file())
    data = originals[0].read_bytes()
    originals[0].write_bytes(b"another")
    assert "holds something else" in said()
    originals[0].unlink()
    assert "is missing" in said()
    originals[0].write_bytes(data)
    assert said() == ""
    originals[0].with_name("left.md").write_bytes(data)
    assert "an orphan original" in said()
    originals[0].with_name("left.md").unlink()

    ledger.sources["a.txt"].possible = {ABSENT}
    assert "a.txt is State(served=0" in said()
    ledger.sources["a.txt"].possible = {State(0)}
    ledger.sources["never"].possible = {State(0)}
    assert "never is State(served=None" in said()
    ledger.sources["never"].possible = {ABSENT}
    connection.execute("update rag.document set text = 'another' where source = 'b.txt'")
    assert "b.txt is {" in said()
    connection.execute("delete from rag.document")
    assert "a.txt is State(served=None" in said()


def test_a_mixture_of_versions_is_found(author: Author) -> None:
    old = author.new()
    new = author.edited(old)
    ledger = Ledger({"a": Source("a", visible={old.key, new.key})})

    def passage(text: str, start: int) -> dict[str, Any]:
        end = start + 10
        return {"source": "a", "document_id": "1", "start": start, "end": end, "content": text[start:end]}

    check_versions(ledger, author, [passage(new.text, 0), passage(new.text, len(new.text) - 10)])
    assert ledger.faults == []
    check_versions(ledger, author, [passage(new.text, 0), passage(old.text, len(old.text) - 10)])
    assert "a mixture" in ledger.faults[0]


def test_the_ledger_knows_what_may_be(author: Author) -> None:
    source = Source("a")
    first, second, bad = author.new(), author.new(), author.bad()
    with source.operation(first) as operation:
        operation.verdict = "done"
    assert source.possible == {State(first.key)}
    with source.operation(second):
        pass  # no answer
    assert source.possible == {State(first.key), State(second.key)}
    with source.operation(None) as operation:
        operation.verdict = "refused"
    assert source.possible == {State(first.key), State(second.key)}
    source.observed(State(second.key))
    with source.operation(bad) as operation:
        operation.verdict = "done"
    assert source.possible == {State(second.key, bad.error_code)}
    with source.operation(None) as deletion:
        with source.operation(first) as upload:
            upload.verdict = "done"
        deletion.verdict = "done"
    assert source.possible == {ABSENT, State(first.key)}
