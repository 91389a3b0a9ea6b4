"""Collections: list, look at, change how their documents are searched and cut, and cut them anew."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, status
from sqlalchemy.ext.asyncio import AsyncConnection

from service.api.access import ADMIN, READ, Caller
from service.api.edge.dependencies import OpenServices
from service.api.schemas import Answer, Asked, Storable
from service.config.collection import CollectionSettings
from service.config.ingestion import IngestionSettings
from service.db.corpus import raise_revision
from service.flows.resplit import outdated_documents, resplit
from service.store.collections import (
    CollectionRecord,
    check_visible,
    get_collection,
    list_collections,
    put_settings,
    with_own_settings,
)
from service.wiring import Services

router = APIRouter(prefix="/v1/collections", tags=["collections"])

Name = Annotated[Storable, Path(max_length=200)]


class CollectionAnswer(Answer):
    """A collection. ``settings`` holds what it has of its own, see `CollectionSettings`.

    ``outdated_count`` served documents were read, cut or embedded with other settings than those in force now (null:
    these cannot hold together); of them ``outdated_queued_count`` wait for a new version, or are at work.
    """

    name: str
    document_count: int
    outdated_count: int | None
    outdated_queued_count: int
    settings: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class CollectionList(Answer):
    """All collections by name."""

    collections: list[CollectionAnswer]


class ResplitAnswer(Answer):
    """What was queued. ``left_count`` outdated documents were not, for the limit: call again."""

    queued_count: int
    left_count: int


class CollectionName(Asked):
    """A name as paths have it."""

    name: Name


class CollectionBody(Asked):
    """What a collection has of its own."""

    settings: CollectionSettings


@router.get("", summary="List collections", dependencies=[READ])
async def list_all(services: OpenServices, caller: Caller) -> CollectionList:
    """Return all collections by name."""
    async with services.engine.connect() as connection:
        records = await list_collections(connection, caller)
        return CollectionList(collections=await _answers(connection, services, records))


@router.get("/{name}", summary="Look at a collection", dependencies=[READ])
async def look_at(name: Name, services: OpenServices, caller: Caller) -> CollectionAnswer:
    """Return a collection with its settings."""
    async with services.engine.connect() as connection:
        return (await _answers(connection, services, [await get_collection(connection, name, caller)]))[0]


@router.put("/{name}", summary="Replace the settings of a collection", dependencies=[ADMIN])
async def put(name: Name, body: CollectionBody, services: OpenServices, caller: Caller) -> CollectionAnswer:
    """Replace all settings: what is left out is that of the service again. A collection that is new is made.

    Searches follow from the next one on, and so do uploads. Documents that are there stay as they were cut until they
    are uploaded again, or cut anew by `resplit`; `outdated_count` says how many.
    """
    check_visible(name, caller)
    settings = body.settings.model_dump(mode="json", exclude_defaults=True)
    with_own_settings(IngestionSettings.of(services.settings), name, settings)
    async with services.engine.begin() as connection:
        record = await put_settings(connection, name, settings)
        await raise_revision(connection)
        return (await _answers(connection, services, [record]))[0]


@router.post(
    "/{name}/resplit",
    summary="Cut outdated documents anew",
    status_code=status.HTTP_202_ACCEPTED,
    dependencies=[ADMIN],
)
async def cut_anew(
    name: Name,
    services: OpenServices,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=1000, description="most documents to queue by this call")] = 200,
) -> ResplitAnswer:
    """Queue documents that were read, cut or embedded with other settings than those in force now.

    Each stays found as it is until its new version takes its place. Its stored text is cut anew; the file is only read
    again where reading it would differ. Texts embedded before are not embedded again.
    """
    check_visible(name, caller)
    return ResplitAnswer.model_validate(await resplit(services.for_receive, name, limit))


async def _answers(
    connection: AsyncConnection, services: Services, records: list[CollectionRecord]
) -> list[CollectionAnswer]:
    outdated = await outdated_documents(connection, IngestionSettings.of(services.settings), records)
    return [
        CollectionAnswer(
            name=record.name,
            document_count=record.document_count,
            outdated_count=outdated[record.name].count,
            outdated_queued_count=outdated[record.name].queued_count,
            settings=dict(record.settings),
            created_at=record.created_at,
            updated_at=record.updated_at,
        )
        for record in records
    ]
