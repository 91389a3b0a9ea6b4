"""``fuzi reembed`` as a program: killed and run again, and the settings that do not fit any more afterwards."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from typer.testing import CliRunner

from service.cli.app import app
from tests.api.live import until
from tests.cli.running import answer, clean_environment, command
from tests.database.chunk_rows import Child, collection, document, search_connection
from tests.fakes.embedding_server import EmbeddingServer, Slow
from tests.flows.reembed.world import line

_CHUNKS = 1300
_IN_FLIGHT = 400
"""Chunks of the pages under way, see `service.flows.reembed.fill`."""


@pytest.fixture
def filled(database: str) -> str:
    """A database with a document of many chunks, put there without any model."""
    with search_connection(database) as connection:
        children = [Child(line(number)) for number in range(_CHUNKS)]
        document(connection, collection(connection, "default"), "手册.txt", [children[:700], children[700:]])
    return database


class Command:
    """Runs ``fuzi`` on a database of its own server."""

    def __init__(self, home: Path, database: str, server: EmbeddingServer) -> None:
        self.target = ("--provider", "openai", "--model", "second", "--base-url", server.url)
        self._home = home
        self._environment = clean_environment(home, FUZI_DATABASE__URL=database)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command(*arguments),
            env=self._environment,
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=240)
        return process.returncode, out, err

    def json(self, *arguments: str) -> dict[str, Any]:
        code, out, err = self.run(*arguments, "--json")
        assert code == 0, out + err
        return answer(subprocess.CompletedProcess(arguments, code, out, err))


def test_a_killed_change_goes_on_and_asks_for_nothing_twice(filled: str, home: Path) -> None:
    with EmbeddingServer(16) as server:
        fuzi = Command(home, filled, server)
        server.rule = lambda _request: Slow(0.05)
        first = fuzi.start("reembed", *fuzi.target)
        until(lambda: len(server.requests) > 60 or first.poll() is not None)
        assert first.poll() is None, first.communicate()
        first.send_signal(signal.SIGKILL)
        first.communicate()
        server.rule = lambda _request: None

        state = fuzi.json("reembed", "--status")
        assert state["active"]["provider"] == "local"
        assert state["standby"] | {"missing": 0} == {
            "provider": "openai", "model": "second", "dimension": 16, "base_url": server.url,
            "vector_type": "vector", "chunks": _CHUNKS, "missing": 0, "indexed": False, "was_active": False,
        }  # fmt: skip
        assert 0 < state["standby"]["missing"] <= _CHUNKS

        looked = fuzi.json("reembed", *fuzi.target, "--no-switch")
        assert (looked["switched"], looked["standby"]["missing"], looked["standby"]["indexed"]) == (False, 0, True)
        assert looked["active"]["provider"] == "local"

        done = fuzi.json("reembed", *fuzi.target)
        assert (done["switched"], done["embedded"]) == (True, 0)
        assert done["settings"] == {
            "FUZI_EMBED__PROVIDER": "openai",
            "FUZI_EMBED__MODEL": "second",
            "FUZI_EMBED__DIMENSION": "16",
            "FUZI_EMBED__BASE_URL": server.url,
        }
        asked = Counter(text for request in server.requests for text in request.texts)
        texts = {f"手册.txt\n{line(number)}" for number in range(_CHUNKS)}
        assert texts <= asked.keys()
        assert sum(asked[text] - 1 for text in texts) <= _IN_FLIGHT
        _assert_vectors(filled, server)

        code, _, err = fuzi.run("search", "阀门")
        assert code == 1
        assert "model_mismatch" in err
        assert "FUZI_EMBED__PROVIDER=openai FUZI_EMBED__MODEL=second FUZI_EMBED__DIMENSION=16" in err
        assert "fuzi reembed --provider local --model multilingual-e5-small" in err

        assert fuzi.json("reembed", "--drop-old", "--yes") == {
            "dropped": "local multilingual-e5-small (384 dimensions)"
        }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--rollback", "--status"), "exclude each other"),
        (("--rollback", "--model", "other"), "exclude each other"),
        (("--rollback", "--no-switch"), "exclude each other"),
        (("--drop-old", "--json"), "add --yes"),
        (("--provider", "unknown"), "unknown"),
    ],
)
def test_a_command_line_that_contradicts_itself_changes_nothing(arguments: tuple[str, ...], complaint: str) -> None:
    result = CliRunner().invoke(app, ["reembed", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert complaint in result.stderr


def _assert_vectors(database: str, server: EmbeddingServer) -> None:
    with psycopg.connect(database) as connection:
        rows = connection.execute("select content, embedding::text from rag.child_chunk").fetchall()
    assert len(rows) == _CHUNKS
    for content, vector in rows:
        expected = server.vector_of(f"手册.txt\n{content}")
        np.testing.assert_allclose(np.fromstring(vector.strip("[]"), sep=","), expected, atol=1e-5)
