"""The checks of a torture run can fail: what is planted here is what they have to find."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, flow_settings, services_with
from tests.torture.checks import Checker
from tests.torture.clients.contents import Author
from tests.torture.clients.ledger import ABSENT, Ledger, Source, State
from tests.torture.clients.load import check_versions


@pytest.fixture
def author() -> Author:
    return Author(random.Random(5))


@pytest.fixture
async def checked(
    author: Author, database: str, tmp_path: Path
) -> AsyncIterator[tuple[Checker, Ledger, psycopg.Connection[Any]]]:
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


CHUNK_FAULTS: dict[LiteralString, str] = {
    "update rag.child_chunk set content = content || '!'": "child chunks that are not their text",
    "update rag.parent_chunk set content = content || '!'": "parent chunks that are not their text",
    "update rag.child_chunk set ordinal = ordinal + 7": "chunks doubled or with gaps",
    "delete from rag.child_chunk": "ready ones without",
    "update rag.child_chunk set end_offset = end_offset - 1, content = left(content, -1)": "rows in child_chunk, a new",
    "update rag.document set status = 'failed'": "chunks of documents that are not ready",
}


async def test_wrong_chunks_are_found(checked: tuple[Checker, Ledger, psycopg.Connection[Any]]) -> None:
    checker, _ledger, connection = checked
    for statement, fault in CHUNK_FAULTS.items():
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
            assert fault in "\n".join(checker.chunks(connection, completely=True)), statement
    assert checker.chunks(connection, completely=True) == []


async def test_wrong_documents_and_originals_are_found(
    checked: tuple[Checker, Ledger, psycopg.Connection[Any]],
) -> None:
    checker, ledger, connection = checked

    def said() -> str:
        return "\n".join(checker.documents(connection)[0])

    connection.execute("update rag.job set finished_at = null where source = 'a.txt'")
    assert "jobs that go on: 1" in "\n".join(checker.unfinished(connection))
    connection.execute("delete from rag.bm25_sentinel where index_name = 'child_chunk_bm25'")
    assert "BM25 indexes without their sentinel: 1" in "\n".join(checker.unfinished(connection))

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
