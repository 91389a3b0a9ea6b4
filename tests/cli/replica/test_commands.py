"""``fuzi replica`` as docs/scale.md writes it down: two embedded servers on one machine, nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from service.cli.replica.check import check_replica
from service.cli.work.checks import State
from service.config import DatabaseSettings, Settings
from service.db.embedded import EmbeddedServer
from service.db.migrate import upgrade
from tests.cli.replica.page import block
from tests.cli.running import Fuzi, answer, clean_environment
from tests.database.bm25.library import found_by_words, write
from tests.database.embedded_homes import QUICK


def doctor_says(primary: str, replica: str) -> list[State]:
    """What ``fuzi doctor`` finds about the replica, its other checks left out."""
    database = DatabaseSettings(url=SecretStr(primary), read_url=SecretStr(replica))
    return [finding.state for finding in asyncio.run(check_replica(Settings(_env_file=None, database=database)))]


@pytest.fixture
def homes(home: Path) -> Iterator[tuple[Path, Path]]:
    """What ``~/.fuzi`` and ``~/.fuzi-replica`` are on a laptop, with the primary's server under way."""
    primary, replica = home / ".fuzi", home / ".fuzi-replica"
    yield primary, replica
    for folder in (primary, replica):
        EmbeddedServer(folder).stop()


def test_the_recipe_of_two_servers(homes: tuple[Path, Path], fuzi: Fuzi, monkeypatch: pytest.MonkeyPatch) -> None:
    primary_home, replica_home = homes
    primary = EmbeddedServer(primary_home, options=QUICK).start().dsn
    replica = EmbeddedServer(replica_home, options=QUICK).start().dsn
    upgrade(primary, Settings(_env_file=None))
    write(primary, range(3))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = clean_environment(primary_home, HOME=str(primary_home.parent), PATH=path)
    recipe = block("bash", "fuzi replica init")
    done = subprocess.run(
        ["bash", "-euc", recipe], env=environment, capture_output=True, encoding="utf-8", check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert "building child_chunk_bm25" in done.stderr
    assert "searches read the replica" in done.stdout
    assert found_by_words(replica, range(3)) == [0, 1, 2]

    monkeypatch.setenv("FUZI_HOME", str(primary_home))
    read = {"FUZI_DATABASE__READ_URL": replica}
    again = fuzi("replica", "init", "--json", env=read)
    assert answer(again)["already_whole"] is True, again.output
    status = answer(fuzi("replica", "status", "--json", env=read))
    assert status["used"] is True
    assert status["lag_seconds"] is not None
    assert [slot["is_active"] for slot in status["slots"]] == [True]
    assert doctor_says(primary, replica) == [State.OK]

    with psycopg.connect(replica, autocommit=True) as connection:
        for statement in block("sql", "wal_level").splitlines():  # each has to be sent by itself
            connection.execute(statement.partition("--")[0])  # type: ignore[call-overload]
        connection.execute("update rag.alembic_version set version_num = '0001'")
    behind = fuzi("replica", "status", env=read)
    assert behind.exit_code == 1
    assert "schema" in behind.stdout
    dropped = answer(fuzi("replica", "drop", "--yes", "--json", env=read))
    assert (dropped["slot"], dropped["emptied"]) == (status["slots"][0]["name"], True)
    assert fuzi("replica", "status", env=read).exit_code == 1


def test_what_is_missing_is_said(fuzi: Fuzi, database: str) -> None:
    here = {"FUZI_DATABASE__URL": database}
    result = fuzi("replica", "init", "--json", env=here)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "invalid_settings"
    assert "FUZI_DATABASE__READ_URL" in json.loads(result.stdout)["error"]["message"]
    assert answer(fuzi("replica", "status", "--json", env=here))["reason"] == "not_made"
    assert fuzi("replica", "drop", env=here).exit_code == 2, "nobody can be asked"
    away = here | {"FUZI_DATABASE__READ_URL": "postgresql://fuzi:x@127.0.0.1:9/away"}
    assert answer(fuzi("replica", "status", "--json", env=away))["reason"] == "unreachable"
    dropped = fuzi("replica", "drop", "--yes", "--json", env=away)
    assert "fuzi replica drop --slot" in json.loads(dropped.stdout)["error"]["message"]
    assert doctor_says(database, away["FUZI_DATABASE__READ_URL"]) == [State.WARN]
