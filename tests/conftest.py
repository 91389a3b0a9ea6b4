"""One real PostgreSQL for a whole test run, and a fresh migrated database for every test that asks for one.

The process that runs pytest (with xdist: the controller) owns a folder in the temporary directory, names it in the
environment for its workers, and at the end stops the server there and removes the folder. Folders of runs that were
killed are swept by the next run.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg import sql

from service.config import Settings
from service.db.embedded import EmbeddedAddress, EmbeddedServer
from tests.inputs import SHARED

pytest_plugins = ["tests.torture.plugin", "tests.fakes.s3.fixtures"]

_ROOT_VARIABLE = "PYTEST_FUZI_ROOT"
_ROOT_PREFIX = "fuzi-tests-"
_TEMPLATE = "fuzi_template"

# The data of a test run are worth nothing after a crash.
_OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "autovacuum_naptime": "10s",
}


def pytest_configure(config: pytest.Config) -> None:
    """Own the folder of this run, unless a controller above already does; forget the developer's settings."""
    if hasattr(config, "workerinput"):
        return
    for name in [name for name in os.environ if name.startswith("FUZI_") and name != "FUZI_SHARED"]:
        del os.environ[name]
    _sweep()
    root = Path(tempfile.mkdtemp(prefix=f"{_ROOT_PREFIX}{os.getpid()}-"))
    root.chmod(0o711)  # as root the server runs as another account, which must be able to pass
    os.environ[_ROOT_VARIABLE] = str(root)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server of this run and remove its folder."""
    if not hasattr(config, "workerinput"):
        _remove(Path(os.environ.pop(_ROOT_VARIABLE)))


def _sweep() -> None:
    for root in Path(tempfile.gettempdir()).glob(f"{_ROOT_PREFIX}*"):
        owner = root.name.removeprefix(_ROOT_PREFIX).split("-", 1)[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)) and os.access(root, os.W_OK):
            _remove(root)


def _remove(root: Path) -> None:
    for folder in root.glob("*/postgres"):
        EmbeddedServer(folder.parent).stop()
    shutil.rmtree(root, ignore_errors=True)


@dataclass(slots=True)
class Databases:
    """Makes and drops databases of the one test server."""

    address: EmbeddedAddress
    root: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @contextmanager
    def fresh(self, *, migrated: bool = True) -> Iterator[str]:
        """URL of a database of its own (migrated to head, or empty); it is dropped at the end."""
        if migrated:
            self._make_template()
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        self._administer("create database {} template {}", name, _TEMPLATE if migrated else "template0")
        try:
            yield self.dsn(name)
        finally:
            self._administer("drop database if exists {} with (force)", name)

    def dsn(self, name: str) -> str:
        """URL of the database ``name`` of the test server."""
        return self.address.dsn.rsplit("/", 1)[0] + f"/{name}"

    def _make_template(self) -> None:
        from service.db.migrate import upgrade  # noqa: PLC0415 - unit tests need no migrations

        with (self.root / "template.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with psycopg.connect(self.dsn("postgres")) as connection:
                if connection.execute("select from pg_database where datname = %s", [_TEMPLATE]).fetchone() is not None:
                    return
            unfinished = f"{_TEMPLATE}_unfinished"
            self._administer("drop database if exists {} with (force)", unfinished)
            self._administer("create database {} template template0", unfinished)
            upgrade(self.dsn(unfinished), Settings(_env_file=None))
            self._administer("alter database {} rename to {}", unfinished, _TEMPLATE)

    def _administer(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture(scope="session")
def server() -> EmbeddedAddress:
    """Address of the one server of this run; started by the first worker that asks."""
    return EmbeddedServer(Path(os.environ[_ROOT_VARIABLE]) / "shared", options=_OPTIONS).start()


@pytest.fixture(scope="session")
def databases(server: EmbeddedAddress) -> Databases:
    """Maker of databases, for tests that need several, or one for a whole module."""
    return Databases(server, Path(os.environ[_ROOT_VARIABLE]))


@pytest.fixture
def database(databases: Databases) -> Iterator[str]:
    """URL of a fresh database at the newest migration, dropped after the test."""
    with databases.fresh() as dsn:
        yield dsn


@pytest.fixture
def empty_database(databases: Databases) -> Iterator[str]:
    """URL of a fresh database without any migration, dropped after the test."""
    with databases.fresh(migrated=False) as dsn:
        yield dsn


@pytest.fixture
def home() -> Iterator[Path]:
    """A new ``FUZI_HOME`` that the account of an embedded server can reach; a server in it is stopped after the test.

    ``tmp_path`` will not do: pytest closes its parent to every account but the own one.
    """
    folder = Path(tempfile.mkdtemp(prefix="home-", dir=os.environ[_ROOT_VARIABLE]))
    folder.chmod(0o711)
    yield folder
    EmbeddedServer(folder).stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the test inputs beside the repository; its absence is a failure, not a reason to skip."""
    assert (SHARED / "cases").is_dir(), f"no test inputs in {SHARED}: set FUZI_SHARED"
    return SHARED
