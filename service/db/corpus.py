"""The revision of the corpus: goes up with every change of what searches can find, or of how they order it."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_RAISE = text("update rag.corpus set revision = revision + 1")


async def raise_revision(connection: AsyncConnection) -> None:
    """Count a change in the transaction that makes it: as its last statement, all other changes wait until it ends."""
    await connection.execute(_RAISE)
