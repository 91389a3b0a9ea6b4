"""One session at a time changes what the vectors are, or whether they have their index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.engine import own_connection

LOCK = 0x7265656D  # "reem": any number will do, as long as all of them take the same
_TAKE = text("select pg_try_advisory_lock(:lock)")


@asynccontextmanager
async def alone(engine: AsyncEngine) -> AsyncIterator[bool]:
    """Whether nobody else is at it, and keep it so while the block runs. It ends with this process, however it ends."""
    async with own_connection(engine) as connection:
        yield bool(await connection.scalar(_TAKE, {"lock": LOCK}))
