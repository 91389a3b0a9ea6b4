"""One second server, and one replica on it that every test finds well and leaves well: making one takes seconds."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from service.flows.replica.make import Made, make
from tests.conftest import Databases
from tests.database.bm25.library import write
from tests.fakes.heard import Heard
from tests.flows.replica.servers import ReplicaServer, forget_replicas, parts_of


@dataclass
class Fed:
    """A primary and its replica, both by URL, and how the replica was made. Documents have numbers, see `write`."""

    primary: str
    replica: str
    made: Made
    heard: Heard
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def write(self, count: int) -> list[int]:
        """Store documents on the primary; their numbers."""
        numbers = [next(self.numbers) for _ in range(count)]
        write(self.primary, numbers)
        return numbers


@pytest.fixture(scope="package")
def second_server() -> Iterator[ReplicaServer]:
    home = Path(tempfile.mkdtemp(prefix="home-", dir=os.environ["PYTEST_FUZI_ROOT"]))
    home.chmod(0o711)
    server = ReplicaServer(home)
    yield server
    server.stop()
    shutil.rmtree(home)


@pytest.fixture(scope="package")
def fed(databases: Databases, second_server: ReplicaServer) -> Iterator[Fed]:
    with databases.fresh() as primary:
        replica, heard, first = second_server.new_database(), Heard(), range(10)
        write(primary, first)
        try:
            made = asyncio.run(make(parts_of(primary, replica), heard))
            yield Fed(primary, replica, made, heard, itertools.count(first.stop))
        finally:
            asyncio.run(forget_replicas(primary))


@pytest.fixture
def empty_replica(second_server: ReplicaServer) -> str:
    return second_server.new_database()
