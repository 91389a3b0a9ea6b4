"""Repairs without a crash: who does them, what is counted, and what each version of pg_search needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.bm25 import Bm25Health, Outcome, Repair, guarding, repair
from service.db.bm25.guard import look
from service.db.bm25.repair import is_wal_logged
from tests.database.bm25.library import (
    FILES,
    INVALID,
    ask,
    fetch,
    found_by_words,
    lose_sentinels,
    sentinels,
    watched,
    write,
)

_NUMBERS = range(3)
_BLIND = "update pg_index set indisready = {} where indexrelid = 'rag.child_chunk_bm25'::regclass"


@pytest.fixture
async def engine(database: str) -> AsyncIterator[AsyncEngine]:
    """Engine on a database with three documents."""
    write(database, _NUMBERS)
    made, _ = watched(database)
    yield made
    await made.dispose()


def write_past_the_index(database: str, numbers: range) -> None:
    """Write documents that the children's BM25 index does not hear of."""
    fetch(database, _BLIND.format("false"))
    write(database, numbers)
    fetch(database, _BLIND.format("true"))


def outcomes(repairs: list[Repair] | None) -> list[Outcome]:
    assert repairs is not None, "another one was at it"
    return [done.outcome for done in repairs]


async def test_of_two_at_once_one_rebuilds(engine: AsyncEngine, database: str) -> None:
    lose_sentinels(database)
    first, second = await asyncio.gather(repair(engine), repair(engine))
    done = [*(first or []), *(second or [])]
    assert [(one.index_name, one.outcome) for one in done] == [
        ("child_chunk_bm25", Outcome.REBUILT),
        ("parent_chunk_bm25", Outcome.REBUILT),
    ]
    assert await sentinels(engine) == 2


async def test_a_rebuild_that_is_broken_off_trusts_nothing_and_leaves_nothing(
    engine: AsyncEngine, database: str
) -> None:
    lose_sentinels(database)
    health = Bm25Health()
    with psycopg.connect(database) as reader:
        reader.execute("select count(*) from rag.child_chunk")
        async with guarding(engine, health):
            while fetch(database, INVALID) != [("child_chunk_bm25_ccnew",)]:
                await asyncio.sleep(0.02)
            assert await repair(engine) is None, "one is at it, and no other waits with a snapshot"
    assert await sentinels(engine) == 0
    assert fetch(database, INVALID) == [("child_chunk_bm25_ccnew",)]
    assert outcomes(await repair(engine)) == [Outcome.REBUILT] * 2
    assert fetch(database, INVALID) == []
    assert found_by_words(database, _NUMBERS) == list(_NUMBERS)


async def test_the_count_finds_what_the_sentinel_does_not_know(engine: AsyncEngine, database: str) -> None:
    write_past_the_index(database, range(3, 6))
    # dead rows in the index would hide the missing ones from a mere sum over its segments
    fetch(database, "delete from rag.document where source in ('s0', 's1', 's2')")
    assert found_by_words(database, range(3, 6)) == []
    assert await repair(engine) == []
    repairs = await repair(engine, recount=True)
    assert outcomes(repairs) == [Outcome.REBUILT]
    assert repairs is not None
    assert repairs[0].row_count == 6
    assert found_by_words(database, range(3, 6)) == [3, 4, 5]


async def test_a_crash_safe_pg_search_is_counted_before_it_is_rebuilt(engine: AsyncEngine, database: str) -> None:
    fetch(database, "update pg_extension set extversion = '0.24.0' where extname = 'pg_search'")
    files = fetch(database, FILES)
    lose_sentinels(database)
    assert outcomes(await repair(engine)) == [Outcome.VERIFIED] * 2
    assert fetch(database, FILES) == files
    assert await sentinels(engine) == 2

    write_past_the_index(database, range(3, 6))
    lose_sentinels(database)
    assert outcomes(await repair(engine)) == [Outcome.REBUILT, Outcome.VERIFIED]
    assert found_by_words(database, range(6)) == list(range(6))


@pytest.mark.parametrize(
    ("version", "answer"),
    [("0.21.14", False), ("0.23.9", False), ("0.24.0", True), ("0.24", True), ("1.0.0", True), ("", False)],
)
def test_versions_that_are_crash_safe(version: str, answer: bool) -> None:
    assert is_wal_logged(version) is answer


async def test_an_index_that_is_not_there_is_never_trusted(engine: AsyncEngine, database: str) -> None:
    fetch(database, "drop index rag.child_chunk_bm25")
    lose_sentinels(database)
    assert outcomes(await repair(engine)) == [Outcome.MISSING, Outcome.REBUILT]
    assert fetch(database, "select index_name from rag.bm25_sentinel") == [("parent_chunk_bm25",)]


async def test_the_guard_sees_a_loss_between_two_looks(engine: AsyncEngine, database: str) -> None:
    health = Bm25Health()
    async with guarding(engine, health, look_seconds=0.02):
        lose_sentinels(database)
        while await sentinels(engine) < 2:
            await asyncio.sleep(0.02)
        while health.lost:
            await asyncio.sleep(0.02)


async def test_searches_say_what_they_lack_only_when_words_were_asked_for(engine: AsyncEngine, database: str) -> None:
    fetch(database, "delete from rag.bm25_sentinel where index_name = 'child_chunk_bm25'")
    health = Bm25Health()
    assert (await ask(engine, health, "合同")).warnings == ()
    await look(engine, health)
    result = await ask(engine, health, "合同")
    (warning,) = result.warnings
    assert warning.code == "bm25_rebuilding"
    assert "child_chunk_bm25" in warning.message
    assert "parent_chunk_bm25" not in warning.message
    assert any(hit.candidate.fts_rank for passage in result.passages for hit in passage.hits), "what is found is kept"
    assert (await ask(engine, health, "合同", fts_weight=0)).warnings == ()


async def test_a_database_without_schema_can_be_watched(empty_database: str) -> None:
    engine, health = watched(empty_database)
    assert await look(engine, health) is False
    assert health.lost == ()
    await engine.dispose()
