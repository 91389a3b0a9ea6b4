"""RESPLIT FLOW: compare with the settings now → mark → queue. Workers cut the stored texts anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from service.config.ingestion import IngestionSettings
from service.errors import InvalidSettings
from service.flows.receive import ReceiveParts
from service.queue.jobs import add_job
from service.queue.queue import lane_of
from service.split import SPLITTER_VERSION
from service.store.collections import CollectionRecord, claim, get_collection, kinds_of_documents, with_own_settings

log = structlog.get_logger()

_PRIORITY = -1001
"""Behind every upload: what is to be cut anew is found meanwhile."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """Served documents taken in with other settings than those now; ``queued_count`` of them wait or are at work.

    ``count`` is None when the settings of the collection cannot hold with those of the service.
    """

    count: int | None = 0
    queued_count: int = 0


@dataclass(frozen=True, slots=True)
class Resplit:
    """Documents queued by a call, and outdated ones that it left."""

    queued_count: int
    left_count: int


async def outdated_documents(
    connection: AsyncConnection, service: IngestionSettings, collections: Sequence[CollectionRecord]
) -> Mapping[str, Outdated]:
    """Count outdated documents of these collections, by name of the collection."""
    kinds = await kinds_of_documents(connection, collections[0].id if len(collections) == 1 else None)
    found = dict[str, Outdated]()
    for collection in collections:
        try:
            settings = with_own_settings(service, collection.name, collection.settings)
        except InvalidSettings:
            found[collection.name] = Outdated(None)
            continue
        old = [
            each
            for each in kinds
            if each.collection_id == collection.id and each.kind.is_outdated(settings, SPLITTER_VERSION)
        ]
        found[collection.name] = Outdated(sum(each.count for each in old), sum(each.waiting_count for each in old))
    return found


async def resplit(parts: ReceiveParts, name: str, limit: int) -> Resplit:
    """Queue up to ``limit`` outdated documents of a collection; call it again while it leaves some.

    Each stays as it is, and is found, until its new version takes its place in one transaction. Its text is the stored
    one, unless the file would be read in another way now. Texts embedded before are not embedded again.

    Raises:
        CollectionNotFound: there is none with this name.
        InvalidSettings: its settings cannot hold with those of the service.
    """
    async with parts.engine.begin() as connection:
        collection = await get_collection(connection, name)
        settings = with_own_settings(parts.settings, name, collection.settings)
        kinds = await kinds_of_documents(connection, collection.id)
        old = [each for each in kinds if each.kind.is_outdated(settings, SPLITTER_VERSION)]
        claimed = await claim(connection, collection.id, [each.kind for each in old], limit) if old else []
        for document in claimed:
            job_id, lane = parts.new_id(), lane_of(document.size_bytes, parts.limits)
            queue_job_id = await parts.queue.put(connection, job_id, document.id, lane, _PRIORITY)
            await add_job(
                connection,
                id=job_id,
                document_id=document.id,
                collection_id=collection.id,
                source=document.source,
                file_name=document.file_name,
                declared_type=document.media_type,
                object_key=document.object_key,
                size_bytes=document.size_bytes,
                sha256=document.sha256,
                queue_job_id=queue_job_id,
            )
    left_count = sum(each.count - each.waiting_count for each in old) - len(claimed)
    log.info("resplit_queued", collection=name, queued=len(claimed), left=left_count)
    return Resplit(len(claimed), left_count)
