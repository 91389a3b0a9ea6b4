"""From a folder to a running PostgreSQL: make the cluster once, clear what a crash left, configure, start.

Everything here expects that the caller holds the lock of the folder and that no server of it is alive.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from service.db.embedded_bundle import Account, executables, find_account
from service.db.embedded_process import end_orphans, is_postmaster, pid_file_holder, running_server
from service.db.embedded_tuning import configuration_text, machine_memory, server_settings, shared_memory_size
from service.errors import DatabaseUnavailable, Misconfigured

ROLE = "fuzi"
DATABASE = "fuzi"
HOST = "127.0.0.1"
START_SECONDS = 600  # crash recovery replays up to max_wal_size

_ORPHAN_SECONDS = 20.0
_PORT_TRIES = 5
_LONGEST_SOCKET_PATH = 103  # bytes, on macOS; 107 on Linux
_LARGEST_LOG = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of one embedded server are, below ``folder``."""

    folder: Path

    @property
    def data(self) -> Path:
        """The cluster; belongs to the account of the server."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "log" / "server.log"

    @property
    def password(self) -> Path:
        """Password of the role, readable by who started the server first."""
        return self.folder / "password"

    @property
    def port(self) -> Path:
        """The port used last."""
        return self.folder / "port"

    @property
    def lock(self) -> Path:
        """Held while a server is started or stopped."""
        return self.folder / "lock"

    @property
    def sockets(self) -> Path:
        """Folder of the unix socket; a short one in the temporary folder where the path would be too long."""
        own = self.folder / "run"
        if len(os.fsencode(own / ".s.PGSQL.65535.lock")) <= _LONGEST_SOCKET_PATH:
            return own
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path(tempfile.gettempdir()).resolve() / f"fuzi-{digest}"


def launch(layout: Layout, port: int, options: Mapping[str, str]) -> None:
    """Start the server on ``port`` (0: the last one, or any that is free); makes the cluster if there is none.

    Returns when the server is up, or still replaying its log after ``START_SECONDS``.

    Raises:
        Misconfigured: this machine, account or folder cannot run it, or the wanted port is taken.
        DatabaseUnavailable: it ended again; the message holds its last words.
    """
    account = find_account(layout.data)
    programs = executables(account, layout.folder)
    _private_folder(layout.log.parent, account)
    _private_folder(layout.sockets, account)
    if not layout.data.exists():
        _initialise(layout, account, programs, options)
    _check(layout, account)
    if not layout.password.exists():
        password = _new_password(layout)
        _single_user(account, programs, layout.data, f"alter role {ROLE} password '{password}'")
    _clear_crash(layout)
    if layout.log.exists() and layout.log.stat().st_size > _LARGEST_LOG:
        layout.log.replace(layout.log.with_name("server.old.log"))
    for attempt in range(1, _PORT_TRIES + 1):
        chosen = _choose_port(layout, port, attempt)
        _configure(layout, account, chosen, options)
        seen = layout.log.stat().st_size if layout.log.exists() else 0
        start: list[str | Path] = [programs / "pg_ctl", "start", "-D", layout.data, "-l", layout.log]
        done = account.run([*start, "-w", "-t", str(START_SECONDS)], seconds=START_SECONDS + 60)
        if done.returncode == 0 or running_server(layout.data) is not None:
            layout.port.write_text(str(chosen), encoding="ascii")
            return
        words = last_words(layout.log, seen) or done.stderr.strip()
        if port == 0 and "Address already in use" in words and attempt < _PORT_TRIES:
            continue  # somebody took the port since we looked
        raise DatabaseUnavailable(f"the embedded PostgreSQL does not start:\n{words}", log=str(layout.log))


def last_words(log: Path, after: int = 0, lines: int = 12) -> str:
    """The last ``lines`` lines of the server's log, of those written beyond byte ``after``."""
    try:
        with log.open("rb") as file:
            file.seek(after)
            said = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return "\n".join(said.strip().splitlines()[-lines:])


def _private_folder(path: Path, account: Account) -> None:
    """Make ``path`` a folder that only ``account`` (and root) can enter."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if path.is_symlink() or found.st_uid not in {os.geteuid(), account.uid}:
        raise Misconfigured(f"{path} is not ours: remove it")
    account.own(path)


def _initialise(layout: Layout, account: Account, programs: Path, options: Mapping[str, str]) -> None:
    """Make the cluster aside and move it into place, so that a half-made one is never taken for one."""
    aside = layout.folder / "unfinished"
    if aside.exists():
        shutil.rmtree(aside)
    _private_folder(aside, account)
    if not account.can_enter(aside):
        raise Misconfigured(
            f"PostgreSQL runs as {account.name}, who cannot enter {layout.folder}: "
            "set FUZI_HOME to a folder open to it, such as /var/lib/fuzi"
        )
    password_file = aside / "password"
    _write_private(password_file, _new_password(layout))
    account.own(password_file)
    data = aside / "data"
    # The builtin provider orders by code point on every machine alike; the C library's order changes with its version.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    access = [f"--username={ROLE}", "--auth=scram-sha-256", f"--pwfile={password_file}"]
    other = ["--data-checksums", "--no-instructions"]
    if options.get("fsync") == "off":
        other.append("--no-sync")
    done = account.run([programs / "initdb", f"--pgdata={data}", *locale, *access, *other])
    if done.returncode != 0:
        raise DatabaseUnavailable(f"PostgreSQL's initdb failed:\n{done.stderr.strip()}")
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("\ninclude_if_exists = 'fuzi.conf'\t# written anew at every start\n# Own settings go below.\n")
    _single_user(account, programs, data, f"create database {DATABASE}")
    data.rename(layout.data)
    shutil.rmtree(aside)


def _single_user(account: Account, programs: Path, data: Path, statement: str) -> None:
    done = account.run([programs / "postgres", "--single", "-j", "-D", data, "template1"], text=f"{statement};\n\n")
    if done.returncode != 0 or "ERROR" in done.stderr or "FATAL" in done.stderr:
        raise DatabaseUnavailable(f"PostgreSQL refused its preparation:\n{done.stderr.strip()}")


def _new_password(layout: Layout) -> str:
    password = secrets.token_hex(24)
    _write_private(layout.password, password)
    return password


def _write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600 in one step."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)


def _check(layout: Layout, account: Account) -> None:
    if not account.can_enter(layout.data):
        raise Misconfigured(
            f"PostgreSQL runs as {account.name}, who cannot enter {layout.data}: open the folders above"
        )
    if layout.data.stat().st_mode & 0o027:
        raise Misconfigured(f"others may enter {layout.data}, so PostgreSQL refuses it: chmod 700 {layout.data}")
    if not (layout.data / "PG_VERSION").is_file():
        raise Misconfigured(f"{layout.data} holds no PostgreSQL cluster: move it away")


def _clear_crash(layout: Layout) -> None:
    """Take away what a killed server left and PostgreSQL would stumble over.

    A pid file whose process is gone stays: PostgreSQL judges it better, with the shared memory it names. One whose
    number a stranger has by now stops every start. The socket folder is this server's alone and no server is alive.
    """
    holder = pid_file_holder(layout.data)
    if (layout.data / "postmaster.pid").exists():
        end_orphans(layout.data, _ORPHAN_SECONDS)
        if holder is None or not is_postmaster(holder, layout.data):
            (layout.data / "postmaster.pid").unlink()
    for file in layout.sockets.glob(".s.PGSQL.*"):
        file.unlink()


def _choose_port(layout: Layout, wanted: int, attempt: int) -> int:
    if wanted:
        if not _is_free(wanted):
            raise Misconfigured(f"port {wanted} is taken: set FUZI_DATABASE__EMBEDDED_PORT to another one, or to 0")
        return wanted
    if attempt == 1:
        try:
            remembered = int(layout.port.read_text(encoding="ascii"))
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
        "unix_socket_directories": str(layout.sockets),
        "unix_socket_permissions": "0700",
        "cluster_name": "fuzi",
        "log_line_prefix": "%m [%p] %d ",
        **options,
    }
    file = layout.data / "fuzi.conf"
    _write_private(file, configuration_text(settings))
    account.own(file)
