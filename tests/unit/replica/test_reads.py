"""Where a search reads, decided without any server: engines that are never connected, reads that the test writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from service.config import DatabaseSettings, SearchSettings
from service.db.bm25 import Bm25Health
from service.db.engine import create_engine
from service.db.models import BM25_INDEXES
from service.db.replica.reads import Place, Reads
from service.db.replica.verdict import REASONS, UNREACHABLE, ReplicaState
from service.errors import CollectionNotFound, InvalidFilter
from service.metrics import Metrics

WELL = ReplicaState(None, 0, 0.0)


def place(name: str) -> Place:
    dsn = f"postgresql://nobody@{name}.invalid/x"
    return Place(create_engine(dsn, DatabaseSettings(), SearchSettings()), Bm25Health())


@pytest.fixture
def reads() -> Reads:
    reads = Reads(place("primary"), place("replica"), metrics=Metrics())
    reads.saw(WELL)
    return reads


async def name_of(where: Place) -> str:
    return (where.engine.url.host or "").split(".")[0]


def failing(error: Exception) -> Callable[[Place], Awaitable[str]]:
    """A read that the replica fails with this error."""

    async def read(where: Place) -> str:
        if await name_of(where) == "replica":
            raise error
        return "primary"

    return read


def failovers(reads: Reads) -> list[str]:
    lines = reads.metrics.text().decode().splitlines()
    return [line for line in lines if line.startswith("fuzi_replica_failovers_total{")]


async def test_the_replica_is_read_while_it_is_well(reads: Reads) -> None:
    assert await reads.serve(name_of) == "replica"
    for reason in REASONS:
        reads.saw(ReplicaState(reason))
        assert await reads.serve(name_of) == "primary", reason
    reads.saw(WELL)
    assert await reads.serve(name_of) == "replica"
    assert failovers(reads) == []


async def test_nobody_watches_so_the_primary_is_read() -> None:
    assert await Reads(place("primary"), place("replica")).serve(name_of) == "primary"
    assert await Reads(place("primary")).serve(name_of) == "primary"


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection unexpectedly"),
        OperationalError("select", {}, psycopg.OperationalError("terminating connection")),
        ConnectionResetError("reset"),
    ],
)
async def test_a_read_that_is_cut_goes_to_the_primary_and_so_do_the_next(reads: Reads, error: Exception) -> None:
    assert await reads.serve(failing(error)) == "primary"
    assert reads.state.reason == UNREACHABLE
    assert await reads.serve(name_of) == "primary", "until the next look says otherwise"
    assert failovers(reads) == ['fuzi_replica_failovers_total{reason="unreachable"} 1.0']


async def test_a_statement_that_fails_says_nothing_about_the_server(reads: Reads) -> None:
    assert await reads.serve(failing(psycopg.errors.QueryCanceled("statement timeout"))) == "primary"
    assert await reads.serve(name_of) == "replica"
    assert failovers(reads) == ['fuzi_replica_failovers_total{reason="failed"} 1.0']


async def test_what_was_made_a_moment_ago_is_found_on_the_primary(reads: Reads) -> None:
    assert await reads.serve(failing(CollectionNotFound("there is no collection 'new'"))) == "primary"
    assert await reads.serve(name_of) == "replica"


async def test_a_wrong_question_is_asked_once(reads: Reads) -> None:
    asked = []

    async def read(where: Place) -> str:
        asked.append(await name_of(where))
        raise InvalidFilter("no such operator")

    with pytest.raises(InvalidFilter):
        await reads.serve(read)
    assert asked == ["replica"]


async def test_the_primary_is_asked_once(reads: Reads) -> None:
    asked = []

    async def read(where: Place) -> str:
        asked.append(await name_of(where))
        raise psycopg.OperationalError("gone")

    with pytest.raises(psycopg.OperationalError):
        await reads.serve(read)
    assert asked == ["replica", "primary"]


async def test_a_read_that_hangs_is_left_when_the_replica_is_seen_gone(reads: Reads) -> None:
    hanging = asyncio.Event()

    async def read(where: Place) -> str:
        if await name_of(where) == "primary":
            return "primary"
        hanging.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    answer = asyncio.create_task(reads.serve(read))
    await hanging.wait()
    reads.saw(ReplicaState("behind"))
    await asyncio.sleep(0)
    assert not answer.done(), "a replica that is only late still answers"
    reads.saw(ReplicaState(UNREACHABLE))
    assert await answer == "primary"


async def test_a_caller_that_leaves_takes_its_read_along(reads: Reads) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def read(_where: Place) -> str:
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()
        raise AssertionError

    answer = asyncio.create_task(reads.serve(read))
    await begun.wait()
    answer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answer
    await ended.wait()


async def test_a_replica_with_a_lost_index_is_not_read(reads: Reads) -> None:
    assert reads.replica is not None
    reads.replica.bm25.observe(set())
    assert await reads.serve(name_of) == "primary"
    reads.replica.bm25.observe(set(BM25_INDEXES))
    assert await reads.serve(name_of) == "replica"
