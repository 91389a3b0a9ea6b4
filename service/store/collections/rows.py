"""Collections: named groups of documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.config.ingestion import CollectionIngestion, IngestionSettings
from service.config.problems import first_problem
from service.db.models import Collection, Document
from service.errors import CollectionNotFound, InvalidInput, InvalidSettings
from service.types import ANYONE, JsonObject, Principal

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


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """A collection; ``settings`` are as stored."""

    id: int
    name: str
    settings: JsonObject
    document_count: int
    created_at: datetime
    updated_at: datetime


_RECORD = select(
    Collection.id,
    Collection.name,
    Collection.settings,
    select(func.count())
    .where(Document.collection_id == Collection.id)
    .correlate(Collection)
    .scalar_subquery()
    .label("document_count"),
    Collection.created_at,
    Collection.updated_at,
)


async def list_collections(connection: AsyncConnection, seen_by: Principal = ANYONE) -> list[CollectionRecord]:
    """Return all collections by name, but those that are hidden."""
    names = seen_by.visible()
    query = _RECORD if names is None else _RECORD.where(Collection.name.in_(names))
    rows = await connection.execute(query.order_by(Collection.name))
    return [CollectionRecord(**row._mapping) for row in rows]


async def get_collection(connection: AsyncConnection, name: str, seen_by: Principal = ANYONE) -> CollectionRecord:
    """Return one collection.

    Raises:
        CollectionNotFound: there is none with this name, or it is hidden from ``seen_by``.
    """
    check_visible(name, seen_by)
    row = (await connection.execute(_RECORD.where(Collection.name == name))).one_or_none()
    if row is None:
        raise _no_collection(name)
    return CollectionRecord(**row._mapping)


def check_visible(name: str, seen_by: Principal) -> None:
    """Refuse a hidden collection, whether it exists or not, as one that does not.

    Raises:
        CollectionNotFound: it is hidden.
    """
    if not seen_by.may_see(name):
        raise _no_collection(name)


def _no_collection(name: str) -> CollectionNotFound:
    return CollectionNotFound(f"there is no collection {name!r}", missing=[name])


async def put_settings(connection: AsyncConnection, name: str, settings: JsonObject) -> CollectionRecord:
    """Replace the settings of a collection, which is made when it is new.

    Raises:
        InvalidInput: the name is no possible one.
    """
    collection_id = await ensure_collection(connection, name)
    changed = update(Collection).where(Collection.id == collection_id)
    await connection.execute(changed.values(settings=dict(settings), updated_at=func.now()))
    return await get_collection(connection, name)


def with_own_settings(service: IngestionSettings, name: str, stored: JsonObject) -> IngestionSettings:
    """How documents of a collection are taken in: its own settings, else those of the service.

    Raises:
        InvalidSettings: together they make no sense.
    """
    try:
        return service.with_own(CollectionIngestion.read(stored))
    except ValidationError as error:
        raise InvalidSettings(
            f"the settings of collection {name!r} with those of the service: {first_problem(error)}"
        ) from error


async def ingestion_settings(
    connection: AsyncConnection, collection_id: int, service: IngestionSettings
) -> IngestionSettings:
    """`with_own_settings` of one collection as it is now."""
    query = select(Collection.name, Collection.settings).where(Collection.id == collection_id)
    row = (await connection.execute(query)).one()
    return with_own_settings(service, row.name, row.settings)


async def own_heading_context(connection: AsyncConnection, collection_id: int) -> bool | None:
    """Whether a collection embeds titles and headings; None when it has no setting of its own."""
    own = await connection.scalar(select(Collection.settings["heading_context"]).where(Collection.id == collection_id))
    return own if isinstance(own, bool) else None
