"""PostgreSQL from the wheel: made, started and stopped by us, crash-proof, for any number of processes.

The server lives longer than the process that started it. ``fuzi serve``, a ``fuzi ingest`` beside it and an analyst's
psql share one server, so none of them may take it away from the others: it stops by ``fuzi db stop`` or with the
machine, and the next start finds it running. An idle server costs a few sleeping processes.

Layout below ``<home>/postgres``: ``data`` (the cluster, 0700), ``log/server.log``, ``run`` (unix socket), ``password``
(0600, of the role ``fuzi``), ``port`` (the one used last), ``lock`` and ``alive`` (locked files), and as root perhaps
``bundle-<version>``, a copy of the programs. Own settings go to the end of ``data/postgresql.conf`` or into
``alter system``; ``data/fuzi.conf`` is written anew at every start.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from service.db.embedded.cluster import DATABASE, ROLE, Layout, ended_unasked
from service.db.embedded.launch import HOST, START_SECONDS, launch, lock_at_once, wait_until_ready
from service.db.embedded.process import PidFile, running_server, wait_for_end
from service.errors import DatabaseUnavailable, Misconfigured

_STOP_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class EmbeddedAddress:
    """Where the embedded server listens, and with which password."""

    port: int
    socket_directory: Path
    password: str = field(repr=False)
    host: str = HOST
    role: str = ROLE
    database: str = DATABASE

    @property
    def dsn(self) -> str:
        """URL over loopback TCP, good for psycopg, psql and graphical tools. Holds the password."""
        return f"postgresql://{self.role}:{self.password}@{self.host}:{self.port}/{self.database}"

    @property
    def socket_dsn(self) -> str:
        """URL over the unix socket, good for libpq programs of root or of the server's account. Holds the password."""
        directory = quote(str(self.socket_directory), safe="")
        return f"postgresql://{self.role}:{self.password}@/{self.database}?host={directory}&port={self.port}"

    @property
    def nearest_dsn(self) -> str:
        """``socket_dsn`` where this process can use the socket, for it works without any network; else ``dsn``."""
        socket = self.socket_directory / f".s.PGSQL.{self.port}"
        # libpq takes a comma for the end of a host
        return self.socket_dsn if "," not in str(socket) and os.access(socket, os.W_OK) else self.dsn


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What is known of the server; ``state`` is ``stopped``, ``starting``, ``ready`` or ``stopping``."""

    state: str
    data: Path
    log: Path
    pid: int | None = None
    address: EmbeddedAddress | None = None


class EmbeddedServer:
    """The PostgreSQL server whose data live below ``home``.

    All methods block and may be called from any thread or process at any time; a file lock orders them.
    """

    def __init__(self, home: Path, port: int = 0, options: Mapping[str, str] | None = None) -> None:
        """Name the server; nothing is touched yet.

        Args:
            home: the folder ``FUZI_HOME``.
            port: TCP port, 0 picks a free one and keeps it as long as it stays free.
            options: further settings of ``postgresql.conf`` for the server that this object may start.
        """
        self._layout = Layout(home.expanduser().resolve() / "postgres")
        self._port = port
        self._options = dict(options or {})

    def start(self) -> EmbeddedAddress:
        """Start the server unless it runs, wait until it accepts connections, and say where.

        Raises:
            Misconfigured: this machine, account or folder cannot run it; the message says what to do.
            DatabaseUnavailable: it does not start; the message ends with the server's own last words.
        """
        try:
            self._make_folder()
            with self._locked():
                running = running_server(self._layout.data)
                if running is not None and running.state == "stopping":
                    self._await_end(running)
                    running = None
                if running is not None:  # somebody else's, perhaps still recovering
                    running = wait_until_ready(self._layout)
                return self._address(running or launch(self._layout, self._port, self._options))
        except PermissionError as error:
            raise Misconfigured(f"no permission for {error.filename}: set FUZI_HOME to a folder of your own") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DatabaseUnavailable(f"the embedded PostgreSQL does not start: {error}") from error

    def stop(self) -> bool:
        """Stop the server: sessions are ended, everything is written, nothing needs recovery.

        It is never stopped the immediate way, nor killed: that would lose rows of the BM25 index.

        Returns:
            False when it was not running.

        Raises:
            DatabaseUnavailable: it has not ended after two minutes (and goes on ending).
        """
        if running_server(self._layout.data) is None:
            return False
        with self._locked():
            running = running_server(self._layout.data)
            if running is None:
                return False
            os.kill(running.pid, signal.SIGINT)  # PostgreSQL's "fast" shutdown
            self._await_end(running)
            return True

    def status(self) -> ServerStatus:
        """Look, and change nothing."""
        running = running_server(self._layout.data)
        if running is None:
            return ServerStatus("stopped", self._layout.data, self._layout.log)
        return ServerStatus(running.state, self._layout.data, self._layout.log, running.pid, self._address(running))

    def was_killed(self) -> bool:
        """True when the server is gone though nobody stopped it: killed, crashed, or stopped the immediate way."""
        return running_server(self._layout.data) is None and ended_unasked(self._layout.data)

    def _address(self, running: PidFile) -> EmbeddedAddress:
        file = self._layout.password
        try:
            password = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise Misconfigured(f"{file} is missing: stop the server and start it again, which makes one") from None
        except PermissionError:
            raise Misconfigured(f"{file} is not readable for you: run as the account that made it") from None
        return EmbeddedAddress(running.port, Path(running.socket_directory), password)

    def _make_folder(self) -> None:
        """Create the folders down to ours; as root such that the server's account can pass through."""
        folder = self._layout.folder
        for path in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            path.mkdir(exist_ok=True)
            path.chmod(0o711 if os.geteuid() == 0 else 0o700)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        deadline = time.monotonic() + START_SECONDS
        with self._layout.lock.open("a") as file:
            while not lock_at_once(file):
                if time.monotonic() > deadline:
                    raise DatabaseUnavailable("another process is starting or stopping PostgreSQL")
                time.sleep(0.03)
            yield

    def _await_end(self, running: PidFile) -> None:
        if not wait_for_end(running.pid, self._layout.data, _STOP_SECONDS):
            raise DatabaseUnavailable(f"the embedded PostgreSQL (process {running.pid}) is still stopping")
