"""Searches go on whatever becomes of the replica, and go back to it when it is well again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
from asgi_lifespan import LifespanManager
from pydantic import SecretStr

from service.app import create_app
from service.config import DatabaseSettings, JobSettings, Settings
from service.db.replica.reads import Reads
from service.search import SearchParts, search
from service.types import SearchRequest
from tests.database.bm25.library import found_by_words
from tests.flows.replica.conftest import Fed
from tests.flows.replica.servers import LOOK_SECONDS, ReplicaServer, locked_out, rows, searching, until

CLIENTS = 4


@dataclass
class Searches:
    """What a few clients see that never stop searching."""

    answered: int = 0
    failed: list[BaseException] = field(default_factory=list)


@asynccontextmanager
async def searched_all_the_time(parts: SearchParts) -> AsyncIterator[Searches]:
    seen = Searches()

    async def client(number: int) -> None:
        while True:
            try:
                result = await search(parts, SearchRequest(f"N{number}", 5, 50, 70, 30, 60))
                assert result.passages
                assert result.warnings == ()
                seen.answered += 1
            except Exception as error:
                seen.failed.append(error)
            await asyncio.sleep(0.01)

    clients = [asyncio.create_task(client(number)) for number in range(CLIENTS)]
    try:
        yield seen
    finally:
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


def reads_of(parts: SearchParts) -> Reads:
    assert parts.reads is not None
    return parts.reads


async def some_more(seen: Searches, count: int = 20) -> None:
    wanted = seen.answered + count
    await until(lambda: seen.answered >= wanted)


async def test_the_kill_of_the_replica_under_searches(fed: Fed, second_server: ReplicaServer) -> None:
    async with searching(fed.primary, fed.replica) as parts, searched_all_the_time(parts) as seen:
        reads = reads_of(parts)
        await until(lambda: reads.state.is_used)
        await some_more(seen)

        second_server.kill()
        await some_more(seen)
        assert reads.state.reason == "unreachable"
        assert "fuzi_replica_used 0.0" in reads.metrics.text().decode()
        assert "fuzi_replica_failovers_total{" in reads.metrics.text().decode()
        # while it is away, more is written
        numbers = await asyncio.to_thread(fed.write, 10)

        await asyncio.to_thread(second_server.start)
        await until(lambda: reads.state.is_used)
        assert reads.replica is not None
        assert reads.replica.bm25.lost == ()
        await some_more(seen)
    assert seen.failed == []
    assert found_by_words(fed.replica, range(10)) == found_by_words(fed.primary, range(10))
    # the crash took rows from the index of the replica; its guard brought them back before it was read again
    await until(lambda: found_by_words(fed.replica, numbers) == numbers)
    assert rows(fed.replica, "select count(*) from rag.bm25_sentinel") == [(2,)]


async def test_a_replica_that_says_nothing(fed: Fed, second_server: ReplicaServer) -> None:
    async with searching(fed.primary, fed.replica) as parts, searched_all_the_time(parts) as seen:
        reads = reads_of(parts)
        await until(lambda: reads.state.is_used)
        await some_more(seen)
        with second_server.frozen():
            await until(lambda: reads.state.reason == "unreachable")
            await some_more(seen)
        await until(lambda: reads.state.is_used)
        await some_more(seen)
    assert seen.failed == []


async def test_a_replica_that_falls_behind(fed: Fed) -> None:
    async with searching(fed.primary, fed.replica, most_lag_seconds=0.5) as parts:
        reads = reads_of(parts)
        await until(lambda: reads.state.is_used)
        with psycopg.connect(fed.replica) as holder:
            # reads go on, changes wait
            holder.execute("lock table rag.corpus in share mode")
            with psycopg.connect(fed.primary) as writer:
                writer.execute("update rag.corpus set revision = revision + 1")
            await until(lambda: reads.state.reason == "behind")
            assert reads.state.lag_seconds is not None
            assert reads.state.lag_seconds > 0.5
            result = await search(parts, SearchRequest("N1", 5, 50, 70, 30, 60))
            assert [(result.corpus_revision,)] == rows(fed.primary, "select revision from rag.corpus")
        await until(lambda: reads.state.is_used)


async def test_what_was_made_a_moment_ago(fed: Fed) -> None:
    """A collection that the replica does not have yet is looked for on the primary."""
    async with searching(fed.primary, fed.replica) as parts:
        reads = reads_of(parts)
        await until(lambda: reads.state.is_used)
        with psycopg.connect(fed.replica) as holder:
            holder.execute("lock table rag.collection in share mode")
            with psycopg.connect(fed.primary) as writer:
                writer.execute("insert into rag.collection (name) values ('new')")
            result = await search(parts, SearchRequest("N1", 5, 50, 70, 30, 60, collections=["new"]))
            assert result.passages == ()
            assert reads.state.is_used


async def test_the_replica_really_answers(fed: Fed) -> None:
    """What only the replica has is found: nothing else proves where a search has read."""
    async with searching(fed.primary, fed.replica) as parts:
        await until(lambda: reads_of(parts).state.is_used)
        with psycopg.connect(fed.replica) as connection:
            connection.execute("update rag.document set title = 'only here'")
            connection.commit()
            for vector, fts in ((70.0, 0.0), (0.0, 30.0)):
                result = await search(parts, SearchRequest("N1", 5, 50, vector, fts, 60))
                assert result.passages
                assert {passage.title for passage in result.passages} == {"only here"}
            connection.execute("update rag.document set title = source")


async def test_searches_go_on_while_the_primary_is_away(fed: Fed) -> None:
    async with searching(fed.primary, fed.replica) as parts:
        reads = reads_of(parts)
        await until(lambda: reads.state.is_used)
        with locked_out(fed.primary):
            for _ in range(10):
                result = await search(parts, SearchRequest("N1", 5, 50, 70, 30, 60))
                assert result.passages
                await asyncio.sleep(LOOK_SECONDS)
            assert reads.state.is_used, "what cannot be written cannot be missing"
        await until(lambda: reads.state.lag_bytes == 0)
        assert reads.state.is_used


async def test_the_service_reads_it_and_says_so(fed: Fed, tmp_path: Path) -> None:
    database = DatabaseSettings(url=SecretStr(fed.primary), read_url=SecretStr(fed.replica), pool_size=2)
    settings = Settings(_env_file=None, home=tmp_path, database=database, jobs=JobSettings(inside_serve=False))
    app = create_app(settings)
    async with (
        LifespanManager(app, startup_timeout=60) as running,
        httpx.AsyncClient(transport=httpx.ASGITransport(running.app), base_url="http://fuzi") as http,
    ):
        async with asyncio.timeout(30):
            while not (ready := (await http.get("/readyz")).json())["replica"]["used"]:
                await asyncio.sleep(0.1)
        assert ready["status"] == "ready"
        assert ready["replica"]["reason"] is None
        assert ready["replica"]["lag_seconds"] < 30
        with psycopg.connect(fed.replica) as connection:
            connection.execute("update rag.document set title = 'only here'")
        query = {"query": "N1", "vector_weight": 0, "rerank": False}
        try:
            answer = (await http.post("/v1/search", json=query)).json()
        finally:
            with psycopg.connect(fed.replica) as connection:
                connection.execute("update rag.document set title = source")
        assert {passage["title"] for passage in answer["passages"]} == {"only here"}
        assert "fuzi_replica_used 1.0" in (await http.get("/metrics")).text


async def test_a_service_starts_without_its_replica(fed: Fed, tmp_path: Path) -> None:
    away = SecretStr("postgresql://fuzi:x@127.0.0.1:9/away")
    database = DatabaseSettings(url=SecretStr(fed.primary), read_url=away, pool_size=2)
    settings = Settings(_env_file=None, home=tmp_path, database=database, jobs=JobSettings(inside_serve=False))
    async with (
        LifespanManager(create_app(settings), startup_timeout=60) as running,
        httpx.AsyncClient(transport=httpx.ASGITransport(running.app), base_url="http://fuzi") as http,
    ):
        ready = (await http.get("/readyz")).json()
        assert (ready["status"], ready["replica"]["reason"]) == ("ready", "unreachable")
        query = {"query": "N1", "vector_weight": 0, "rerank": False}
        assert (await http.post("/v1/search", json=query)).json()["passages"]
