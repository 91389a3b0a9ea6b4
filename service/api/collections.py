"""Collections: list, look at, and change how their documents are searched."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path

from service.api.edge.dependencies import OpenServices
from service.api.schemas import Answer, Asked, Storable
from service.config.collection import CollectionSettings
from service.db.corpus import raise_revision
from service.store.collections import CollectionRecord, get_collection, list_collections, put_settings

router = APIRouter(prefix="/v1/collections", tags=["collections"])

Name = Annotated[Storable, Path(max_length=200)]


class CollectionAnswer(Answer):
    """A collection. ``settings`` holds what it has of its own, see `CollectionSettings`."""

    name: str
    document_count: int
    settings: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class CollectionList(Answer):
    """All collections by name."""

    collections: list[CollectionAnswer]


class CollectionName(Asked):
    """A name as paths have it."""

    name: Name


class CollectionBody(Asked):
    """What a collection has of its own."""

    settings: CollectionSettings


@router.get("", summary="List collections")
async def list_all(services: OpenServices) -> CollectionList:
    """Return all collections by name."""
    async with services.engine.connect() as connection:
        records = await list_collections(connection)
    return CollectionList(collections=[_answer(record) for record in records])


@router.get("/{name}", summary="Look at a collection")
async def look_at(name: Name, services: OpenServices) -> CollectionAnswer:
    """Return a collection with its settings."""
    async with services.engine.connect() as connection:
        return _answer(await get_collection(connection, name))


@router.put("/{name}", summary="Replace the settings of a collection")
async def put(name: Name, body: CollectionBody, services: OpenServices) -> CollectionAnswer:
    """Replace all settings: what is left out is that of the service again. They hold from the next search on.

    A collection that is new is made.
    """
    settings = body.settings.model_dump(mode="json", exclude_defaults=True)
    async with services.engine.begin() as connection:
        record = await put_settings(connection, name, settings)
        await raise_revision(connection)
    return _answer(record)


def _answer(record: CollectionRecord) -> CollectionAnswer:
    return CollectionAnswer.model_validate(record)
