"""A process of the embedded shape that starts while PostgreSQL recovers waits for it instead of giving up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
from structlog.testing import capture_logs

from service.config import Settings
from service.db.embedded import EmbeddedServer
from service.wiring import open_services
from tests.database.embedded_homes import QUICK


async def test_a_database_that_lets_nobody_in_yet_is_waited_for(home: Path) -> None:
    address = EmbeddedServer(home, options=QUICK).start()

    async def start() -> None:
        async with open_services(Settings(_env_file=None, home=home)):
            pass

    with psycopg.connect(address.dsn.rsplit("/", 1)[0] + "/postgres", autocommit=True) as administrator:
        administrator.execute("alter database fuzi allow_connections false")
        with capture_logs() as logs:
            starting = asyncio.create_task(start())
            while not any(line["event"] == "database_not_ready" for line in logs):
                assert not starting.done(), starting.result()
                await asyncio.sleep(0.05)
        administrator.execute("alter database fuzi allow_connections true")
    await starting
