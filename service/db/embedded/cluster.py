"""The folder of the embedded server and the cluster in it: made once, whole or not at all, and looked at before use."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from service.db.embedded.bundle import Account
from service.errors import DatabaseUnavailable, Misconfigured

ROLE = "fuzi"
DATABASE = "fuzi"

_LONGEST_SOCKET_PATH = 103  # bytes, on macOS; 107 on Linux

# head of ControlFileData: system identifier, version of the control file, version of the catalogue, state
_CONTROL_HEAD = struct.Struct("=QIIi")
# in crash recovery, in archive recovery, in production
_AT_WORK = frozenset({4, 5, 6})


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
    def alive(self) -> Path:
        """Locked by every process of the server as long as it lives."""
        return self.folder / "alive"

    @property
    def sockets(self) -> Path:
        """Folder of the unix socket; a short one in the temporary folder where the path would be too long."""
        own = self.folder / "run"
        if len(os.fsencode(own / ".s.PGSQL.65535.lock")) <= _LONGEST_SOCKET_PATH:
            return own
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
        return Path(tempfile.gettempdir()).resolve() / f"fuzi-{digest}"


def ended_unasked(data: Path) -> bool:
    """True when the cluster's control file says that its server worked, and nobody has asked it to stop since.

    False for one that was shut down or was about to be, and for one that cannot be read.
    """
    try:
        with (data / "global" / "pg_control").open("rb") as file:
            _, _, _, state = _CONTROL_HEAD.unpack(file.read(_CONTROL_HEAD.size))
    except (OSError, struct.error):
        return False
    return state in _AT_WORK


def make_cluster(layout: Layout, account: Account, programs: Path, options: Mapping[str, str], alive: int) -> None:
    """Make the cluster aside and move it into place, so that a half-made one is never taken for one.

    The descriptor ``alive`` goes to the programs called, which may outlive us when we are killed.

    Raises:
        Misconfigured: the account cannot enter the folder.
        DatabaseUnavailable: initdb failed; the message holds what it said.
    """
    aside = layout.folder / "unfinished"
    if aside.exists():
        shutil.rmtree(aside)
    private_folder(aside, account)
    if not account.can_enter(aside):
        raise Misconfigured(
            f"PostgreSQL runs as {account.name}, who cannot enter {layout.folder}: "
            "set FUZI_HOME to a folder open to it, such as /var/lib/fuzi"
        )
    password_file = aside / "password"
    password = _new_password()
    write_private(layout.password, password)
    write_private(password_file, password)
    account.own(password_file)
    data = aside / "data"
    # The builtin provider orders by code point on every machine alike; the C library's order changes with its version.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    access = [f"--username={ROLE}", "--auth=scram-sha-256", f"--pwfile={password_file}"]
    other = ["--data-checksums", "--no-instructions"]
    if options.get("fsync") == "off":
        other.append("--no-sync")
    done = account.run([programs / "initdb", f"--pgdata={data}", *locale, *access, *other], keep_open=[alive])
    if done.returncode != 0:
        raise DatabaseUnavailable(f"PostgreSQL's initdb failed:\n{done.stderr.strip()}")
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("\ninclude_if_exists = 'fuzi.conf'\t# written anew at every start\n# Own settings go below.\n")
    _single_user(account, programs, data, alive, f"create database {DATABASE}")
    data.rename(layout.data)
    shutil.rmtree(aside)


def check_cluster(layout: Layout, account: Account) -> None:
    """Refuse with advice what PostgreSQL would refuse without.

    Raises:
        Misconfigured: the data cannot be entered by the server's account, or can be by others, or are no data.
    """
    if not account.can_enter(layout.data):
        raise Misconfigured(
            f"PostgreSQL runs as {account.name}, who cannot enter {layout.data}: open the folders above"
        )
    if layout.data.stat().st_mode & 0o027:
        raise Misconfigured(f"others may enter {layout.data}, so PostgreSQL refuses it: chmod 700 {layout.data}")
    if not (layout.data / "PG_VERSION").is_file():
        raise Misconfigured(f"{layout.data} holds no PostgreSQL cluster: move it away")


def renew_password(layout: Layout, account: Account, programs: Path, alive: int) -> None:
    """Give the role a new password, when the file with the old one is lost."""
    password = _new_password()
    _single_user(account, programs, layout.data, alive, f"alter role {ROLE} password '{password}'")
    write_private(layout.password, password)


def private_folder(path: Path, account: Account) -> None:
    """Make ``path`` a folder that only ``account`` (and root) can enter."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if path.is_symlink() or found.st_uid not in {os.geteuid(), account.uid}:
        raise Misconfigured(f"{path} is not ours: remove it")
    account.own(path)


def write_private(path: Path, text: str) -> None:
    """Write a file of mode 0600 in one step; a link in its place is replaced, not followed."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)


def _single_user(account: Account, programs: Path, data: Path, alive: int, statement: str) -> None:
    command: list[str | Path] = [programs / "postgres", "--single", "-j", "-D", data, "template1"]
    done = account.run(command, text=f"{statement};\n\n", keep_open=[alive])
    if done.returncode != 0 or "ERROR" in done.stderr or "FATAL" in done.stderr:
        raise DatabaseUnavailable(f"PostgreSQL refused its preparation:\n{done.stderr.strip()}")


def _new_password() -> str:
    return secrets.token_hex(24)
