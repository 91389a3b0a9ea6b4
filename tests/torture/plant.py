"""The parts of one embedded home: PostgreSQL, the service, its workers; how they are started, stopped and killed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import psutil

from service.db.embedded import EmbeddedServer
from service.db.embedded.process import running_server
from tests.cli.running import clean_environment
from tests.torture.nursery import Nursery

_START_SECONDS = 60
_STOP_SECONDS = 45


class Plant:
    """Everything that runs for one home. ``fuzi`` processes are known by their names: ``api``, ``worker 0``, …"""

    def __init__(self, home: Path, embedding_url: str) -> None:
        self.home = home
        self.temporary = home / "tmp"
        self.temporary.mkdir()
        self.environment = clean_environment(home, **_settings(embedding_url), TMPDIR=str(self.temporary))
        self.server = EmbeddedServer(home)
        self.pids: dict[str, int] = {}
        self._port = _free_port()
        self._nursery = Nursery(home, self.environment)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def dsn(self) -> str:
        address = self.server.status().address
        assert address is not None, "PostgreSQL does not run"
        return address.dsn

    async def start_database(self) -> None:
        await asyncio.to_thread(self.server.start)

    async def database_comes_back(self) -> bool:
        """Wait until somebody else has started PostgreSQL; False when nobody does."""
        deadline = time.monotonic() + _START_SECONDS
        while self.server.status().state != "ready":
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.1)
        return True

    async def start_api(self, *, with_jobs: bool) -> None:
        """Start the service and wait until it answers."""
        self._start("api", ["serve", "--port", str(self._port)], FUZI_JOBS__INSIDE_SERVE=str(with_jobs).lower())
        await self._until_alive()

    def start_worker(self, name: str) -> None:
        self._start(name, ["worker"])

    def _start(self, name: str, arguments: list[str], **environment: str) -> None:
        assert not self.is_running(name), name
        self.pids[name] = self._nursery.start(arguments, {**self.environment, **environment})

    async def _until_alive(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        async with httpx.AsyncClient(base_url=self.url) as http:
            while True:
                try:
                    if (await http.get("/healthz", timeout=5)).status_code == 200:
                        return
                except httpx.TransportError:
                    pass
                assert time.monotonic() < deadline, "the service did not start"
                assert self.is_running("api"), "the service ended while it started"
                await asyncio.sleep(0.05)

    def is_running(self, name: str) -> bool:
        return name in self.pids and _is_alive(self.pids[name])

    def ended_by_themselves(self) -> list[str]:
        """Processes that ought to run and do not: nobody killed them."""
        return [name for name in self.pids if not self.is_running(name)]

    async def kill(self, name: str) -> None:
        """End a process by kill -9."""
        await self._signal(name, signal.SIGKILL)

    async def stop(self, name: str) -> bool:
        """Ask a process to end; False when it has not ended in good time."""
        return await self._signal(name, signal.SIGTERM)

    async def _signal(self, name: str, number: signal.Signals) -> bool:
        pid = self.pids.pop(name)
        os.kill(pid, number)
        return await _until_ended(pid)

    def kill_database(self) -> bool:
        """Kill the postmaster; False when it does not run."""
        running = running_server(self.home / "postgres" / "data")
        if running is None:
            return False
        os.kill(running.pid, signal.SIGKILL)
        return True

    def kill_backend(self, choice: float) -> str | None:
        """Kill one session of PostgreSQL; returns what it was doing, or None when there is none."""
        running = running_server(self.home / "postgres" / "data")
        sessions = []
        for process in psutil.Process(running.pid).children() if running else []:
            try:
                title = " ".join(process.cmdline()).strip()
            except psutil.Error:
                continue
            if title.startswith("postgres: fuzi: fuzi fuzi"):
                sessions.append((process.pid, title))
        if not sessions:
            return None
        pid, title = sorted(sessions)[int(choice * len(sessions))]
        os.kill(pid, signal.SIGKILL)
        return title

    def kill_parser(self, choice: float) -> bool:
        """Kill one of the processes that read files; False when there is none."""
        parsers = [process for process in self._our_own() if "service.extract.worker" in _arguments(process)]
        if not parsers:
            return False
        parsers[int(choice * len(parsers))].kill()
        return True

    def strays(self) -> list[str]:
        """Processes that outlived the one that started them."""
        known = {*self.pids.values(), self._nursery.pid}
        return [
            f"{process.pid} {' '.join(_arguments(process))[:100]}"
            for process in self._our_own()
            if process.pid not in known and _parent(process) not in known
        ]

    def _our_own(self) -> list[psutil.Process]:
        """All processes that work in this home, but for PostgreSQL's and the writer of the log."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.status() != psutil.STATUS_ZOMBIE and "python" in process.name():
                    found += [process] if process.environ().get("FUZI_HOME") == str(self.home) else []
            except psutil.Error:
                continue
        return found

    async def shut_down(self) -> None:
        """End everything, PostgreSQL cleanly."""
        for name in list(self.pids):
            if self.is_running(name):
                await self.kill(name)
        self._nursery.close()
        await asyncio.to_thread(self.server.stop)


def _settings(embedding_url: str) -> Mapping[str, str]:
    """Short leases, waits and limits: a round takes seconds."""
    return {
        "FUZI_EMBED__PROVIDER": "openai",
        "FUZI_EMBED__MODEL": "character-hash",
        "FUZI_EMBED__BASE_URL": embedding_url,
        "FUZI_EMBED__TIMEOUT_SECONDS": "1",
        "FUZI_EMBED__TOTAL_TIMEOUT_SECONDS": "6",
        "FUZI_EMBED__ATTEMPTS": "3",
        "FUZI_EMBED__BATCH_SIZE": "32",
        "FUZI_DATABASE__POOL_SIZE": "4",
        "FUZI_DATABASE__CONNECT_TIMEOUT_SECONDS": "3",
        "FUZI_DATABASE__STATEMENT_TIMEOUT_SECONDS": "10",
        "FUZI_DATABASE__GUARD_SECONDS": "0.3",
        "FUZI_EXTRACT__WORKERS": "1",
        "FUZI_JOBS__ATTEMPTS": "100",
        "FUZI_JOBS__BACKOFF_SECONDS": "0.1",
        "FUZI_JOBS__MAX_BACKOFF_SECONDS": "1",
        "FUZI_JOBS__HEARTBEAT_SECONDS": "0.2",
        "FUZI_JOBS__LEASE_SECONDS": "1.5",
        "FUZI_JOBS__GRACEFUL_SECONDS": "1",
        "FUZI_JOBS__SWEEP_SECONDS": "0.3",
        "FUZI_LOG__FORMAT": "json",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def _until_ended(pid: int) -> bool:
    deadline = time.monotonic() + _STOP_SECONDS
    while _is_alive(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            return False
        await asyncio.sleep(0.02)
    return True


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None
