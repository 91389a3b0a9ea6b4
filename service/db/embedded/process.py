"""Which PostgreSQL processes belong to a data directory.

A file that holds a process number proves nothing: after ``kill -9`` the number may be free, or belong to a
stranger by now. Every question here is therefore answered by looking at the process itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class PidFile:
    """What ``postmaster.pid`` says; ``state`` is ``starting``, ``ready``, ``stopping`` or ``standby``."""

    pid: int
    port: int
    socket_directory: str
    state: str


def read_pid_file(data: Path) -> PidFile | None:
    """Parse ``postmaster.pid``; ``None`` when it is absent or not completely written yet."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
        return PidFile(pid=int(lines[0]), port=int(lines[3]), socket_directory=lines[4].strip(), state=lines[7].strip())
    except (FileNotFoundError, NotADirectoryError, IndexError, ValueError):
        return None


def is_postmaster(pid: int, data: Path) -> bool:
    """True when ``pid`` is alive and is the PostgreSQL server of ``data`` (zombies and strangers are not)."""
    if pid <= 0:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        arguments = process.cmdline()
        if not arguments or not Path(arguments[0]).name.startswith("postgres"):
            return False
        # In containers root may not read the working directory of another user's process, but always its arguments.
        return str(data) in arguments or _works_in(process, data)
    except psutil.Error:
        return False


def running_server(data: Path) -> PidFile | None:
    """The pid file of the living server of ``data``, in whatever state; ``None`` when none is alive."""
    found = read_pid_file(data)
    return found if found is not None and is_postmaster(found.pid, data) else None


def end_orphans(data: Path) -> None:
    """Ask server processes whose postmaster was killed to end; one busy in a long statement does not notice by itself.

    Only processes without a living postmaster are asked, whose work nobody will ever see. Where the working directory
    is hidden from us (root in a container), orphans of another embedded server may be among them.
    """
    for process in psutil.process_iter():
        try:
            arguments = process.cmdline()
            if not arguments or not arguments[0].startswith("postgres: fuzi: "):
                continue
            parent = process.parent()
            if (parent is None or not parent.name().startswith("postgres")) and _works_in(process, data, hidden=True):
                process.terminate()
        except psutil.Error:
            continue


def wait_for_end(pid: int, data: Path, seconds: float) -> bool:
    """Wait up to ``seconds`` for the server ``pid`` of ``data`` to end; True when it has."""
    deadline = time.monotonic() + seconds
    while is_postmaster(pid, data):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _works_in(process: psutil.Process, data: Path, *, hidden: bool = False) -> bool:
    try:
        return Path(process.cwd()) == data
    except psutil.AccessDenied:
        return hidden
    except psutil.Error:
        return False
