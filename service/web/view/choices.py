"""What visitors can choose from."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncEngine

from service.store.collections import list_collections
from service.types import Principal


async def collection_names(engine: AsyncEngine, principal: Principal) -> list[str]:
    """Names of the collections that somebody may see, in order."""
    async with engine.connect() as connection:
        records = await list_collections(connection, principal)
    return [record.name for record in records]
