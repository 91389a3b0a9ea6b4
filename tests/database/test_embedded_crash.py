"""What is left behind by ``kill -9`` never stops the next start, and nothing committed is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from service.db.embedded import EmbeddedServer
from service.db.embedded.bundle import find_account
from service.db.embedded.cluster import Layout
from service.db.embedded.process import running_server, wait_for_end
from service.errors import DatabaseUnavailable
from tests.database.embedded_homes import QUICK, query, start_elsewhere


def kill_server(home: Path) -> int:
    """Kill the postmaster the hard way; returns the number it had."""
    running = running_server(Layout(home / "postgres").data)
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    assert wait_for_end(running.pid, Layout(home / "postgres").data, seconds=60)
    return running.pid


@contextmanager
def stranger(home: Path) -> Iterator[int]:
    """A living process of the server's own account that is no PostgreSQL: the worst owner of a recycled number."""
    account = find_account(Layout(home / "postgres").data)
    process = subprocess.Popen(
        ["sleep", "600"], **({"user": account.uid, "group": account.gid, "extra_groups": []} if account.switch else {})
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_committed_rows_survive_the_kill_of_the_postmaster(home: Path) -> None:
    server = EmbeddedServer(home)
    query(server.start().dsn, "create table kept as select generate_series(1, 1000) as id")
    killed = kill_server(home)
    address = server.start()
    assert server.status().pid != killed
    assert query(address.dsn, "select count(*) from kept") == 1000


def test_stale_pid_file_of_a_living_stranger(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    killed = kill_server(home)
    pid_file = Layout(home / "postgres").data / "postmaster.pid"
    with stranger(home) as number:
        pid_file.write_text(pid_file.read_text().replace(str(killed), str(number), 1))
        assert server.status().state == "stopped"
        assert server.stop() is False
        address = server.start()
        assert psutil.pid_exists(number), "the stranger must not be touched"
    assert query(address.dsn, "select 1") == 1


def test_stale_socket_lock_of_a_living_stranger(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    address = server.start()
    killed = kill_server(home)
    lock = address.socket_directory / f".s.PGSQL.{address.port}.lock"
    with stranger(home) as number:
        lock.write_text(lock.read_text().replace(str(killed), str(number), 1))
        again = server.start()
    assert again.port == address.port
    assert query(again.socket_dsn, "select 1") == 1


@pytest.mark.parametrize("content", ["", "\n", "not a number\n", "999999999\n", "-1\n"])
def test_mangled_pid_file(home: Path, content: str) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    server.stop()
    (Layout(home / "postgres").data / "postmaster.pid").write_text(content)
    assert server.status().state == "stopped"
    assert query(server.start().dsn, "select 1") == 1


def test_busy_backend_that_outlives_its_postmaster_is_ended(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    dsn = server.start().dsn
    backend: list[int] = []
    working = threading.Event()

    def work() -> None:
        with psycopg.connect(dsn) as connection:
            backend.append(connection.info.backend_pid)
            working.set()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b")

    worker = threading.Thread(target=work)
    worker.start()
    assert working.wait(60)
    kill_server(home)
    assert query(server.start().dsn, "select 1") == 1
    worker.join(60)
    assert not worker.is_alive()
    assert not psutil.pid_exists(backend[0]) or psutil.Process(backend[0]).status() == psutil.STATUS_ZOMBIE


def test_data_in_use_beyond_our_sight_are_left_alone(home: Path) -> None:
    """A server in another container shows no process here, but its lock on the shared folder does."""
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    server.stop()
    holder = subprocess.Popen(["flock", Layout(home / "postgres").alive, "sleep", "600"], start_new_session=True)
    try:
        while not psutil.Process(holder.pid).children():
            pass
        with pytest.raises(DatabaseUnavailable, match="another container"):
            server.start()
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
        holder.wait()
    assert query(server.start().dsn, "select 1") == 1


def test_half_made_cluster_is_made_again(home: Path) -> None:
    starter = start_elsewhere(home)
    aside = home / "postgres" / "unfinished" / "data" / "base"
    while not aside.exists():
        assert starter.poll() is None
    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    assert not Layout(home / "postgres").data.exists()
    assert query(EmbeddedServer(home, options=QUICK).start().dsn, "select 1") == 1
    assert not (home / "postgres" / "unfinished").exists()


def test_lost_password_is_renewed_by_a_restart(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    old = server.start().password
    Layout(home / "postgres").password.unlink()
    server.stop()
    address = server.start()
    assert address.password != old
    assert query(address.dsn, "select 1") == 1


def test_server_that_cannot_start_says_why(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    server.stop()
    with pytest.raises(DatabaseUnavailable, match="no_such_setting"):
        EmbeddedServer(home, options={"no_such_setting": "1"}).start()
    assert query(server.start().dsn, "select 1") == 1
