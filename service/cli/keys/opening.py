"""The database of the keys, opened for commands: no model, no store, no queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.config import Settings
from service.db.engine import create_engine, database_errors
from service.db.migrate import check_revision
from service.flows.keys import KeyParts
from service.wiring import migrated_dsn


@asynccontextmanager
async def open_keys(settings: Settings) -> AsyncIterator[KeyParts]:
    """Open what the key flows work with.

    Raises:
        NotMigrated, Misconfigured, DatabaseUnavailable: see `service.wiring.open_services`.
    """
    dsn = await migrated_dsn(settings, migrate=settings.database.url is None)
    engine = create_engine(dsn, settings.database, settings.search)
    try:
        with database_errors():
            async with engine.connect() as connection:
                await check_revision(connection)
            yield KeyParts(engine, by_command=True)
    finally:
        await engine.dispose()
