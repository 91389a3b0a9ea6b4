"""A primary on the server of the test run, and replicas on a server of their own, which a test may kill."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql
from pydantic import SecretStr

from service.config import DatabaseSettings, SearchSettings, Settings
from service.db.bm25 import guarding, watch
from service.db.embedded import EmbeddedServer
from service.db.embedded.cluster import Layout
from service.db.embedded.process import running_server, wait_for_end
from service.db.engine import create_engine
from service.db.replica.primary import drop_slot, slots, withdraw
from service.db.replica.reads import Place, Reads
from service.db.replica.session import session
from service.db.replica.watching import watching
from service.flows.replica.parts import ReplicaParts
from service.rerank import KeepOrder
from service.search import SearchParts
from tests.database.embedded_homes import QUICK
from tests.fakes.hash_embedder import HashEmbedder, following

LOOK_SECONDS = 0.1


class ReplicaServer:
    """The second server."""

    def __init__(self, home: Path) -> None:
        # As a primary it would not do: a test says so.
        options = {"wal_level": "replica", "wal_retrieve_retry_interval": "1s"}
        self._server = EmbeddedServer(home, options=QUICK | options)
        self._data = Layout(home / "postgres").data
        self._numbers: Iterator[int] = itertools.count()

    def start(self) -> str:
        return self._server.start().dsn

    def stop(self) -> None:
        self._server.stop()

    def kill(self) -> None:
        """Kill the postmaster the hard way."""
        running = running_server(self._data)
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        assert wait_for_end(running.pid, self._data, seconds=60)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all its processes in their tracks, as a cut network would make it seem."""
        running = running_server(self._data)
        assert running is not None
        postmaster = psutil.Process(running.pid)
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def new_database(self) -> str:
        """URL of an empty database of its own."""
        dsn, name = self.start(), f"replica_{next(self._numbers)}"
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
        return dsn.rsplit("/", 1)[0] + f"/{name}"


@contextmanager
def locked_out(dsn: str) -> Iterator[None]:
    """Let nobody of the service into a database; what feeds its replica is left alone."""
    elsewhere, name = dsn.rpartition("/")[0] + "/postgres", sql.Identifier(dsn.rpartition("/")[2])
    ended = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and application_name = any (%s)"
    with psycopg.connect(elsewhere, autocommit=True) as connection:
        connection.execute(sql.SQL("alter database {} allow_connections false").format(name))
        try:
            connection.execute(ended, [dsn.rpartition("/")[2], ["fuzi", "fuzi-replica-look"]])
            yield
        finally:
            connection.execute(sql.SQL("alter database {} allow_connections true").format(name))


def parts_of(primary: str, replica: str) -> ReplicaParts:
    settings = Settings(_env_file=None, database=DatabaseSettings(url=SecretStr(primary), read_url=SecretStr(replica)))
    return ReplicaParts(settings, primary, replica, primary)


async def forget_replicas(primary: str) -> None:
    """Let the primary's database be dropped."""
    async with session(primary) as connection:
        for slot in await slots(connection):
            await connection.execute("select pg_terminate_backend(active_pid) from pg_replication_slots where active")
            await drop_slot(connection, slot.name)
        await withdraw(connection)


@asynccontextmanager
async def searching(primary: str, replica: str, *, most_lag_seconds: float = 30) -> AsyncIterator[SearchParts]:
    """Parts of a search whose reads are watched, as those of `fuzi serve` are, only more often."""
    settings, search = DatabaseSettings(pool_size=4), SearchSettings()
    near, far = create_engine(primary, settings, search), create_engine(replica, settings, search)
    reads = Reads(Place(near, watch(near)), Place(far, watch(far)), replica)
    assert reads.replica is not None
    try:
        async with (
            watching(reads, primary, most_lag_seconds=most_lag_seconds, look_seconds=LOOK_SECONDS, patience_seconds=1),
            guarding(far, reads.replica.bm25, look_seconds=LOOK_SECONDS),
        ):
            yield SearchParts(
                near, following(HashEmbedder(384)), KeepOrder(), search, reads.primary.bm25, None, reads.metrics, reads
            )
    finally:
        await near.dispose()
        await far.dispose()


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def rows(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(statement).fetchall()  # type: ignore[arg-type]
