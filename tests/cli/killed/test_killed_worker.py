"""A worker killed in the middle of a document (BR-038): the next one finishes it, and no chunk is there twice."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from service.config import EmbedSettings, Settings
from service.db.migrate import upgrade
from tests.cases import case
from tests.cli.running import Program, answer, clean_environment, command
from tests.fakes.embedding_server import EmbeddingServer, Slow

_DIMENSION = 8


@pytest.mark.case("BR-038")
def test_a_killed_worker_leaves_its_document_to_the_next(empty_database: str, program: Program, home: Path) -> None:
    with EmbeddingServer(_DIMENSION) as server:
        environment = {
            "FUZI_DATABASE__URL": empty_database,
            "FUZI_EMBED__PROVIDER": "openai",
            "FUZI_EMBED__MODEL": "m",
            "FUZI_EMBED__DIMENSION": str(_DIMENSION),
            "FUZI_EMBED__BASE_URL": server.url,
            "FUZI_EMBED__API_KEY": "k",
            "FUZI_EMBED__CONCURRENCY": "1",
            "FUZI_JOBS__HEARTBEAT_SECONDS": "0.3",
            "FUZI_JOBS__LEASE_SECONDS": "2",
            "FUZI_JOBS__SWEEP_SECONDS": "0.5",
        }
        embed = EmbedSettings(provider="openai", model="m", dimension=_DIMENSION)
        upgrade(empty_database, Settings(_env_file=None, embed=embed))
        server.rule = lambda _request: Slow(0.2)
        (home / "hundred.txt").write_text(
            "\n\n".join(f"第{number}段{'条文' * 60}。" for number in range(100)), encoding="utf-8"
        )
        # the command works on its own upload until it is killed; after that only workers do
        first = _start(home, environment, "ingest", str(home / "hundred.txt"))
        _until(lambda: len(server.requests) >= 3, first)
        first.kill()
        first.wait()
        with psycopg.connect(empty_database) as connection:
            (state,) = connection.execute("select status from rag.job").fetchone() or ("",)
        assert state == "embedding"
        server.rule = lambda _request: None
        second = _start(home, environment, "worker")
        try:
            _until(lambda: _state(empty_database) in case("BR-038").expected["final_status"], second)
        finally:
            second.send_signal(signal.SIGTERM)
            second.wait(timeout=60)
        with psycopg.connect(empty_database) as connection:
            facts = connection.execute(
                "select count(*), count(distinct ordinal), count(distinct content), count(embedding)"
                " from rag.child_chunk"
            ).fetchone()
        assert facts == (100, 100, 100, 100)
        found = answer(program("search", "第57段", "--json", "--vector-weight", "0", **environment))
        assert found["passages"]


def _start(home: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(*arguments), env=clean_environment(home, **environment), cwd=home)


def _until(condition: object, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while not condition():  # type: ignore[operator]
        assert process.poll() is None, "the process ended"
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def _state(dsn: str) -> str:
    """The job's end in the words of the case."""
    with psycopg.connect(dsn) as connection:
        (status,) = connection.execute("select status from rag.job").fetchone() or ("",)
    return {"ready": "completed"}.get(status, status)
