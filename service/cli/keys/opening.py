"""The database of the keys, opened for commands: no model, no store, no queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.config import Settings
from service.flows.keys import KeyParts
from service.wiring import open_database


@asynccontextmanager
async def open_keys(settings: Settings) -> AsyncIterator[KeyParts]:
    """Open what the key flows work with; see `service.wiring.open_database`."""
    async with open_database(settings) as engine:
        yield KeyParts(engine, by_command=True)
