"""After a real ``kill -9`` nothing stays lost: the loss is seen, searches say so, and a rebuild finds every row."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import Settings
from service.db.bm25 import Bm25Health, Outcome, guarding, repair
from service.db.bm25.guard import look
from service.db.embedded import EmbeddedServer
from service.db.embedded.cluster import Layout
from service.db.embedded.process import running_server, wait_for_end
from service.db.migrate import upgrade
from tests.database.bm25.library import (
    FILES,
    INVALID,
    ask,
    fetch,
    found_by_vector,
    found_by_words,
    watched,
    write,
)
from tests.database.embedded_homes import QUICK

BOTH = ("child_chunk_bm25", "parent_chunk_bm25")


class OwnServer:
    """A server that a test may kill; what a test has written stays for the next, which writes other numbers."""

    def __init__(self, home: Path) -> None:
        self._server = EmbeddedServer(home, options=QUICK)
        self._data = Layout(home / "postgres").data
        self._written = 0

    def start(self) -> str:
        return self._server.start().dsn

    def stop(self) -> None:
        self._server.stop()

    def write(self) -> range:
        """Commit some documents; their numbers."""
        numbers = range(self._written, self._written + 12)
        self._written = numbers.stop
        write(self.start(), numbers)
        return numbers

    def kill(self) -> None:
        """Kill the postmaster the hard way."""
        running = running_server(self._data)
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        assert wait_for_end(running.pid, self._data, seconds=60)


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    """One server for this module: making one takes longer than restarting it in every test."""
    home = Path(tempfile.mkdtemp(prefix="home-", dir=os.environ["PYTEST_FUZI_ROOT"]))
    home.chmod(0o711)
    own = OwnServer(home)
    upgrade(own.start(), Settings(_env_file=None))
    yield own
    own.stop()
    shutil.rmtree(home)


def assert_all_found(dsn: str, numbers: range) -> None:
    assert found_by_words(dsn, numbers) == list(numbers)
    assert found_by_vector(dsn, numbers) == list(numbers)


async def look_after_recovery(engine: AsyncEngine, health: Bm25Health) -> None:
    """After the kill of one backend PostgreSQL ends all others and recovers: look as soon as it answers."""
    while True:
        try:
            await look(engine, health)
        except DBAPIError:
            await asyncio.sleep(0.05)
        else:
            return


async def test_the_kill_of_the_postmaster(server: OwnServer) -> None:
    numbers = server.write()
    server.kill()
    dsn = server.start()
    engine, health = watched(dsn)
    # no look was asked for: the search's own connection sees it
    result = await ask(engine, health, f"N{numbers[0]}")
    assert health.lost == BOTH
    assert [notice.code for notice in result.warnings] == ["bm25_rebuilding"]
    assert result.passages, "the vector leg carries the answer"
    assert found_by_vector(dsn, numbers) == list(numbers)

    repairs = await repair(engine)
    assert repairs is not None
    assert [(done.index_name, done.outcome) for done in repairs] == [(name, Outcome.REBUILT) for name in BOTH]
    assert repairs[0].row_count == 2 * repairs[1].row_count >= 2 * len(numbers)
    assert await look(engine, health)
    assert health.lost == ()
    assert (await ask(engine, health, f"N{numbers[0]}")).warnings == ()
    assert_all_found(dsn, numbers)
    await engine.dispose()


async def test_the_kill_of_one_backend(server: OwnServer) -> None:
    dsn = server.start()
    engine, health = watched(dsn)
    await repair(engine)
    numbers = server.write()
    await look(engine, health)
    assert health.lost == ()

    with psycopg.connect(dsn) as victim:
        os.kill(victim.info.backend_pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            victim.execute("select pg_sleep(60)")
    await look_after_recovery(engine, health)
    assert health.lost == BOTH

    written_after_recovery = server.write()
    async with guarding(engine, health, look_seconds=0.05):
        while health.lost:
            await asyncio.sleep(0.05)
    assert_all_found(dsn, numbers)
    assert_all_found(dsn, written_after_recovery)
    await engine.dispose()


async def test_a_clean_restart_loses_and_rebuilds_nothing(server: OwnServer) -> None:
    dsn = server.start()
    engine, health = watched(dsn)
    await repair(engine)
    numbers = server.write()
    files = fetch(dsn, FILES)
    await engine.dispose()
    server.stop()
    dsn = server.start()
    assert await look(engine, health)
    assert health.lost == ()
    assert await repair(engine, recount=True) == []
    assert fetch(dsn, FILES) == files
    assert_all_found(dsn, numbers)
    await engine.dispose()


async def test_a_crash_in_the_middle_of_the_rebuild(server: OwnServer) -> None:
    numbers = server.write()
    server.kill()
    dsn = server.start()
    engine, health = watched(dsn)
    with closing(psycopg.connect(dsn)) as reader:
        reader.execute("select count(*) from rag.child_chunk")  # the rebuild has to wait for this transaction
        rebuilding = asyncio.create_task(repair(engine))
        while fetch(dsn, INVALID) != [("child_chunk_bm25_ccnew",)]:
            assert not rebuilding.done(), rebuilding.result()
            await asyncio.sleep(0.02)
        # the session itself: one that waits may outlive its postmaster by the whole rebuild
        ((session,),) = fetch(dsn, "select pid from pg_stat_activity where application_name = 'fuzi-guard'")
        os.kill(int(str(session)), signal.SIGKILL)
        with pytest.raises(DBAPIError):
            await rebuilding
    await look_after_recovery(engine, health)
    assert fetch(dsn, INVALID) == [("child_chunk_bm25_ccnew",)]
    assert health.lost == BOTH
    assert [done.outcome for done in await repair(engine) or []] == [Outcome.REBUILT] * 2
    assert fetch(dsn, INVALID) == []
    assert_all_found(dsn, numbers)
    await engine.dispose()
