"""Collections: named groups of documents."""

from __future__ import annotations

import re

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import Collection
from service.errors import InvalidInput

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
