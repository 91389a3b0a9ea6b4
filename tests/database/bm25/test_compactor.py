"""Indexes that lie in many segments become one when they are at rest, and everything is still found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.bm25 import Bm25Health, guarding
from service.db.bm25.compactor import Compactor, Segments
from service.db.bm25.repair import LOCK
from service.db.models import BM25_INDEXES
from tests.database.bm25.library import FILES, fetch, found_by_words, watched, write

_MOST, _REST = 4, 60.0
_COUNT = 8
_WAIT_SECONDS = 60.0


@pytest.fixture
async def engine(database: str) -> AsyncIterator[AsyncEngine]:
    """Engine on a database with eight documents, each a segment of its own."""
    write(database, range(_COUNT))
    made, _ = watched(database)
    yield made
    await made.dispose()


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def segments(database: str) -> list[int]:
    """Segments of the children's index and of the parents'."""
    return [
        int(str(fetch(database, f"select count(*) from paradedb.index_info('rag.{name}')")[0][0]))
        for name in BM25_INDEXES
    ]


async def until_at_most(count: int, database: str) -> None:
    """Wait until neither index has more segments; fails after a minute."""
    async with asyncio.timeout(_WAIT_SECONDS):
        while max(segments(database)) > count:
            await asyncio.sleep(0.1)


async def look_twice(compactor: Compactor, engine: AsyncEngine, clock: Clock, pause: float = _REST) -> None:
    """Look, wait, and look again."""
    for seconds in (pause, 0):
        await compactor.look(engine, Bm25Health())
        clock.now += seconds


async def test_both_become_one_segment_when_nothing_is_written(engine: AsyncEngine, database: str) -> None:
    clock = Clock()
    compactor = Compactor(_MOST, _REST, clock=clock)
    assert min(segments(database)) > _MOST
    await look_twice(compactor, engine, clock, pause=_REST - 1)
    write(database, [_COUNT])  # the rest begins anew
    clock.now += 1
    await look_twice(compactor, engine, clock, pause=_REST - 1)
    assert min(segments(database)) > _MOST
    clock.now += 1
    await compactor.look(engine, Bm25Health())
    assert segments(database) == [1, 1]
    assert found_by_words(database, range(_COUNT + 1)) == list(range(_COUNT + 1))


async def test_it_is_not_done_again_for_few_rows_nor_within_an_hour(engine: AsyncEngine, database: str) -> None:
    fetch(database, "reindex index rag.child_chunk_bm25")
    fetch(database, "reindex index rag.parent_chunk_bm25")
    files, clock = fetch(database, FILES), Clock()
    compactor = Compactor(1, _REST, few_rows=0, clock=clock)
    write(database, range(_COUNT, _COUNT + 2))  # 2 of 10 documents lie outside of the largest segment
    await look_twice(compactor, engine, clock)
    assert fetch(database, FILES) == files
    write(database, range(_COUNT + 2, _COUNT + 5))
    await look_twice(compactor, engine, clock)
    assert segments(database) == [1, 1]
    files = fetch(database, FILES)
    write(database, range(20, 25))
    await look_twice(compactor, engine, clock)
    assert fetch(database, FILES) == files
    clock.now += 3600
    await look_twice(compactor, engine, clock)
    assert segments(database) == [1, 1]


async def test_work_another_process_and_lost_rows_are_waited_for(engine: AsyncEngine, database: str) -> None:
    clock = Clock()
    compactor, files = Compactor(_MOST, _REST, clock=clock), fetch(database, FILES)
    fetch(
        database,
        "insert into rag.job"
        " (id, document_id, collection_id, source, file_name, object_key, size_bytes, sha256, status)"
        " select gen_random_uuid(), gen_random_uuid(), id, 's', 's', 'k', 1, sha256(''), 'embedding'"
        " from rag.collection",
    )
    await look_twice(compactor, engine, clock)
    assert fetch(database, FILES) == files, "a job is at work"
    fetch(database, "update rag.job set status = 'received'")
    with psycopg.connect(database, autocommit=True) as another:
        another.execute("select pg_advisory_lock(%s)", [LOCK])
        await compactor.look(engine, Bm25Health())
    assert fetch(database, FILES) == files, "another process is at it"
    lost = Bm25Health()
    lost.observe(())
    await compactor.look(engine, lost)
    assert fetch(database, FILES) == files, "a repair rebuilds it anyway"
    await compactor.look(engine, Bm25Health())
    assert segments(database) == [1, 1]


async def test_of_many_documents_few_segments_are_left_and_fewer_by_the_guard(
    engine: AsyncEngine, database: str
) -> None:
    write(database, range(_COUNT, 200))
    await until_at_most(20, database)
    health = Bm25Health()
    async with guarding(engine, health, look_seconds=0.1, most_segments=2, rest_seconds=0.5):
        await until_at_most(2, database)
    assert health.lost == ()
    assert found_by_words(database, range(0, 200, 20)) == list(range(0, 200, 20))


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40), st.integers(1, 16))
def test_what_was_made_one_is_scattered_again_only_when_a_third_as_many_rows_came(counts: list[int], most: int) -> None:
    whole = sum(counts)
    assert not Segments(frozenset({("whole", whole)})).are_scattered(most, 0)
    added = [(str(number), count) for number, count in enumerate(counts)]
    as_many = Segments(frozenset({("whole", whole), *added}))
    assert as_many.are_scattered(most, 0) == (len(counts) + 1 > most)
    fewer = Segments(frozenset({("whole", whole), *((name, count // 4) for name, count in added)}))
    assert not fewer.are_scattered(most, 0)
    assert fewer.are_scattered(most, 2 * whole) == (len(counts) + 1 > most)
