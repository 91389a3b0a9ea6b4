"""A server that was killed comes back by itself while a service keeps it; one that was stopped does not."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from service.db.embedded import EmbeddedServer, keeping
from service.db.embedded.cluster import Layout, ended_unasked
from service.db.embedded.process import wait_for_end
from tests.database.embedded_homes import QUICK, query

_LOOK = 0.05


def _end(server: EmbeddedServer, number: signal.Signals) -> int:
    """End the postmaster by a signal and wait until it is gone; returns the number it had."""
    status = server.status()
    assert status.pid is not None
    os.kill(status.pid, number)
    assert wait_for_end(status.pid, status.data, 60)
    return status.pid


async def _back(server: EmbeddedServer) -> int:
    """Wait until the server accepts connections; its process number."""
    while (status := server.status()).state != "ready":
        await asyncio.sleep(0.02)
    assert status.pid is not None
    return status.pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
async def test_a_killed_server_is_started_once_by_all_that_keep_it(home: Path, number: signal.Signals) -> None:
    server = EmbeddedServer(home, options=QUICK)
    address = server.start()
    query(address.dsn, "create table kept as select 7 as n")
    others = [EmbeddedServer(home, options=QUICK) for _ in range(3)]
    async with keeping(others[0], look_seconds=_LOOK), keeping(others[1], look_seconds=_LOOK):
        async with keeping(others[2], look_seconds=_LOOK):
            old = _end(server, number)
            new = await _back(server)
            assert new != old
        await asyncio.sleep(10 * _LOOK)
        assert server.status().pid == new, "the keepers started it more than once"
    assert query(address.dsn, "select n from kept") == 7


async def test_a_server_that_was_stopped_on_purpose_stays_stopped(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    async with keeping(server, look_seconds=_LOOK) as keeper:
        await asyncio.to_thread(server.stop)
        await asyncio.sleep(20 * _LOOK)
        assert server.status().state == "stopped"
        assert keeper.advice() == "`fuzi db start` starts the embedded server"
        await asyncio.to_thread(server.start)
        _end(server, signal.SIGKILL)
        await _back(server)


async def test_a_start_that_fails_is_told_and_tried_again(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    configuration = Layout(home / "postgres").data / "postgresql.conf"
    good = configuration.read_text(encoding="utf-8")
    async with keeping(server, look_seconds=_LOOK, longest_wait_seconds=4 * _LOOK) as keeper:
        configuration.write_text(good + "no_such_setting = 1\n", encoding="utf-8")
        _end(server, signal.SIGKILL)
        while "no_such_setting" not in keeper.advice():
            await asyncio.sleep(0.02)
        assert keeper.advice().startswith("the embedded server was killed and does not start again: ")
        configuration.write_text(good, encoding="utf-8")
        await _back(server)


async def test_whoever_stops_does_not_wait_for_a_start(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    lock = Layout(home / "postgres").lock
    async with keeping(server, look_seconds=_LOOK) as keeper:
        holder = await asyncio.create_subprocess_exec("flock", lock, "sleep", "600", start_new_session=True)
        try:
            _end(server, signal.SIGKILL)
            while "is being started again" not in keeper.advice():
                await asyncio.sleep(0.02)
        except BaseException:
            os.killpg(holder.pid, signal.SIGKILL)
            raise
    os.killpg(holder.pid, signal.SIGKILL)
    await holder.wait()
    # the start that was left behind goes on in its thread
    await _back(server)


def test_data_that_cannot_be_read_were_not_killed(home: Path) -> None:
    assert not ended_unasked(home)
    assert not EmbeddedServer(home).was_killed()
    (home / "global").mkdir()
    (home / "global" / "pg_control").write_bytes(b"short")
    assert not ended_unasked(home)
