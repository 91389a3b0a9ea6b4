"""Collections: named groups of documents."""

from __future__ import annotations

import re

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import Collection, Document
from service.errors import InvalidInput
from service.types import JsonObject

_NAME = re.compile(r"[\w][\w .\-]{0,99}", re.UNICODE)


async def ensure_collection(connection: AsyncConnection, name: str) -> int:
    """Return the id of a collection, creating it when it is new.

    Raises:
        InvalidInput: the name is not 1 to 100 letters, digits, blanks, ``.``, ``-`` or ``_``.
    """
    if not _NAME.fullmatch(name) or name != name.strip():
        raise InvalidInput(
            "a collection name has 1 to 100 letters, digits, blanks, '.', '-' or '_' and starts with a letter or digit"
        )
    found = await connection.scalar(select(Collection.id).where(Collection.name == name))
    if found is not None:
        return found
    await connection.execute(insert(Collection).values(name=name).on_conflict_do_nothing())
    return (await connection.execute(select(Collection.id).where(Collection.name == name))).scalar_one()


async def adopt_settings(connection: AsyncConnection, collection_id: int, settings: JsonObject) -> None:
    """Give a collection that is new, without documents and settings, the ones it had elsewhere."""
    has_documents = select(Document.id).where(Document.collection_id == collection_id).exists()
    await connection.execute(
        update(Collection)
        .where(Collection.id == collection_id, Collection.settings == {}, ~has_documents)
        .values(settings=dict(settings))
    )
