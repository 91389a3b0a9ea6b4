"""Plugs are pulled at random while documents come, change, go and are searched; afterwards nothing may be lost.

`make test` does 30 rounds, `make torture` 200; `--torture-rounds` and `--torture-seed` choose others.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest

from service.config import EmbedSettings, Settings
from service.db.migrate import upgrade
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.hash_embedder import HashEmbedder
from tests.torture.disk import SmallDisk
from tests.torture.plant import Plant
from tests.torture.plugin import SUMMARY, seed_of
from tests.torture.rounds import Torture

_DIMENSION = 384


@asynccontextmanager
async def opened(seed: int) -> AsyncIterator[Torture]:
    """A new home with everything that belongs to it; it is kept when something was found."""
    # Not in the folder of the test run, which is removed at its end.
    home = Path(tempfile.mkdtemp(prefix="fuzi-torture-"))
    home.chmod(0o711)
    disk = SmallDisk(home)
    vectors = HashEmbedder(_DIMENSION)
    with EmbeddingServer(_DIMENSION, lambda text: vectors.vector_of(text).tolist()) as embedding:
        plant = Plant(home, embedding.url)
        torture = Torture(plant, disk, embedding, seed)
        whole = False
        try:
            await plant.start_database()
            model = EmbedSettings(provider="openai", model="character-hash", dimension=_DIMENSION)
            await asyncio.to_thread(upgrade, plant.dsn, Settings(_env_file=None, home=home, embed=model))
            await asyncio.to_thread(_write_quickly, plant.dsn)
            yield torture
            whole = not torture.ledger.faults
        finally:
            (home / "ledger.log").write_text("\n".join(torture.ledger.lines), encoding="utf-8")
            await plant.shut_down()
            disk.close(keep=not whole)
            if whole:
                shutil.rmtree(home)
            else:
                print(f"the home is kept: {home}")


def _write_quickly(dsn: str) -> None:
    """A kill takes nothing from the kernel's cache: waiting for the disk would prove nothing here."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("alter system set fsync = off")
        connection.execute("select pg_reload_conf()")


@pytest.mark.torture
@pytest.mark.timeout(3 * 3600)
def test_nothing_is_lost_whatever_plug_is_pulled(
    request: pytest.FixtureRequest, record_property: pytest.RecordProperty
) -> None:
    seed = seed_of(request.config)
    print(f"torture: seed {seed}, process {os.getpid()}")

    async def run() -> tuple[list[str], list[str], str]:
        async with opened(seed) as torture:
            try:
                await torture.run(request.config.getoption("--torture-rounds"))
            except BaseException as error:
                torture.ledger.fault(f"the run broke off: {error!r}")
                raise
            finally:
                print(torture.summary(), flush=True)
                record_property(SUMMARY, torture.summary())
            return torture.ledger.faults, torture.ledger.lines, torture.summary()

    faults, lines, _summary = asyncio.run(run())
    if faults:
        print("\n".join(lines[-400:]))
    assert not faults, "\n".join(faults[:40])
