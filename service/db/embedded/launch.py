"""From a folder to a running PostgreSQL: make the cluster once, clear what a crash left, configure, start.

Everything here expects that the caller holds the lock of the folder and that no server of it is alive.
"""

from __future__ import annotations

import fcntl
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from service.db.embedded.bundle import Account, executables, find_account
from service.db.embedded.cluster import (
    Layout,
    check_cluster,
    make_cluster,
    private_folder,
    renew_password,
    write_private,
)
from service.db.embedded.process import PidFile, end_orphans, running_server
from service.db.embedded.tuning import configuration_text, machine_memory, server_settings, shared_memory_size
from service.errors import DatabaseUnavailable, Misconfigured

HOST = "127.0.0.1"
START_SECONDS = 600  # crash recovery replays up to max_wal_size

_ORPHAN_SECONDS = 10.0
_PORT_TRIES = 5
_LARGEST_LOG = 16 * 1024 * 1024


def launch(layout: Layout, port: int, options: Mapping[str, str]) -> PidFile:
    """Start the server on ``port`` (0: the last one, or any that is free); makes the cluster if there is none.

    Returns when the server accepts connections.

    Raises:
        Misconfigured: this machine, account or folder cannot run it, or the wanted port is taken.
        DatabaseUnavailable: it ended again, with its last words in the message, or still recovers.
    """
    account = find_account(layout.data)
    programs = executables(account, layout.folder)
    for folder in (layout.log.parent, layout.sockets):
        private_folder(folder, account)
    if layout.log.exists() and layout.log.stat().st_size > _LARGEST_LOG:
        layout.log.replace(layout.log.with_name("server.old.log"))
    words = ""
    for attempt in range(_PORT_TRIES):
        seen = layout.log.stat().st_size if layout.log.exists() else 0
        with _sole_use(layout) as alive:
            if not layout.data.exists():
                make_cluster(layout, account, programs, options, alive)
            check_cluster(layout, account)
            if not layout.password.exists():
                renew_password(layout, account, programs, alive)
            chosen = _choose_port(layout, port, forget=attempt > 0)
            _configure(layout, account, chosen, options)
            # Not pg_ctl: it builds a shell command from the paths, and fails on quotes in them (or runs what they say).
            server: list[str | Path] = [programs / "postgres", "-D", layout.data]
            account.run(["/bin/sh", "-c", '"$@" </dev/null >>"$0" 2>&1 &', layout.log, *server], keep_open=[alive])
        running = wait_until_ready(layout)
        if running is not None:
            layout.port.write_text(str(chosen), encoding="utf-8")
            return running
        words = last_words(layout.log, seen)
        if port or "Address already in use" not in words:
            break  # else somebody took the port since we looked
    raise DatabaseUnavailable(f"the embedded PostgreSQL does not start:\n{words}", log=str(layout.log))


def wait_until_ready(layout: Layout) -> PidFile | None:
    """Wait until a server that somebody has started accepts connections; ``None`` when it has ended instead.

    Raises:
        DatabaseUnavailable: it still recovers after ``START_SECONDS``.
    """
    deadline = time.monotonic() + START_SECONDS
    while (running := running_server(layout.data)) is not None or _in_use(layout):
        if running is not None and running.state == "ready":
            return running
        if time.monotonic() > deadline:
            raise DatabaseUnavailable("the embedded PostgreSQL is still recovering", log=str(layout.log))
        time.sleep(0.03)
    return None


def last_words(log: Path, after: int = 0, lines: int = 12) -> str:
    """The last ``lines`` lines of the server's log, of those written beyond byte ``after``."""
    try:
        with log.open("rb") as file:
            file.seek(after)
            said = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(said.strip().splitlines()[-lines:])


@contextmanager
def _sole_use(layout: Layout) -> Iterator[int]:
    """Prove that no process of the server is alive, and take away what a killed one left.

    Yields the descriptor of a locked file. The server inherits it (initdb too), and the kernel frees the lock when the
    last of its processes has ended. That is surer than any process number: one may belong to a stranger by now, and
    those of another container that shares this folder mean nothing here.
    """
    deadline = time.monotonic() + _ORPHAN_SECONDS
    with layout.alive.open("a") as file:
        while not lock_at_once(file):
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(
                    f"processes of a PostgreSQL that was killed, or of another container, still use {layout.data}"
                )
            end_orphans(layout.data)
            time.sleep(0.1)
        (layout.data / "postmaster.pid").unlink(missing_ok=True)
        for left in layout.sockets.glob(".s.PGSQL.*"):
            left.unlink()
        yield file.fileno()


def _in_use(layout: Layout) -> bool:
    with layout.alive.open("a") as file:
        return not lock_at_once(file)


def lock_at_once(file: IO[str]) -> bool:
    """Lock ``file`` until it is closed; False when another process holds it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _choose_port(layout: Layout, wanted: int, *, forget: bool) -> int:
    if wanted:
        if not _is_free(wanted):
            raise Misconfigured(f"port {wanted} is taken: set FUZI_DATABASE__EMBEDDED_PORT to another one, or to 0")
        return wanted
    if not forget:
        try:
            remembered = int(layout.port.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            remembered = 0
        if remembered and _is_free(remembered):
            return remembered
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _configure(layout: Layout, account: Account, port: int, options: Mapping[str, str]) -> None:
    settings = server_settings(machine_memory(), shared_memory_size()) | {
        "listen_addresses": HOST,
        "port": str(port),
        "unix_socket_directories": '"' + str(layout.sockets).replace('"', '""') + '"',
        "unix_socket_permissions": "0700",
        "cluster_name": "fuzi",
        "log_line_prefix": "%m [%p] %d ",
        **options,
    }
    file = layout.data / "fuzi.conf"
    write_private(file, configuration_text(settings))
    account.own(file)
