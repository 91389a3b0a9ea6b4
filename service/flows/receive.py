"""RECEIVE FLOW: check → compare → keep the original → queue. What is acknowledged here is never lost."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config import LimitSettings
from service.config.ingestion import IngestionSettings
from service.db.corpus import raise_revision
from service.errors import EmptyFile, OriginalsUnavailable, TooLarge
from service.queue.jobs import add_job, waiting_count, waiting_job
from service.queue.queue import JobQueue, lane_of
from service.split import SPLITTER_VERSION
from service.store.collections import ensure_collection, ingestion_settings
from service.store.documents import (
    DocumentRecord,
    find_document,
    find_duplicate,
    lock_source,
    receive_document,
    update_description,
)
from service.store.metadata import clean_metadata
from service.store.originals import Originals
from service.store.sources import normalise_source
from service.types import IngestOutcome, IngestRequest, IngestResult, JsonObject

log = structlog.get_logger()

_LOWEST_PRIORITY = -1000


@dataclass(frozen=True, slots=True)
class ReceiveParts:
    """What receiving an upload works with; ``settings`` are those of the service."""

    engine: AsyncEngine
    originals: Originals
    queue: JobQueue
    settings: IngestionSettings
    limits: LimitSettings
    new_id: Callable[[], UUID]


@dataclass(frozen=True, slots=True)
class Accepted:
    """An upload that is durable and queued: its original, its row and its job were committed."""

    job_id: UUID
    document_id: UUID
    source: str
    collection: str


@dataclass(frozen=True, slots=True)
class _Checked:
    """An upload that keeps all rules."""

    request: IngestRequest
    source: str
    metadata: JsonObject | None
    size_bytes: int
    sha256: bytes


async def receive(parts: ReceiveParts, request: IngestRequest) -> Accepted | IngestResult:
    """Accept a file and queue it, or report at once that the served version already is this file.

    The same upload as one that is still waiting is accepted as that one.

    Raises:
        InvalidInput: source, collection or metadata break their rules, or the file is empty.
        InvalidSettings: what the collection has of its own cannot hold with the settings of the service.
        TooLarge: the file is over ``limits.max_upload_mb``.
        OriginalsUnavailable: the original cannot be kept; nothing was written.
    """
    checked = await _check(parts.limits, request)
    async with parts.engine.begin() as connection:
        collection_id = await ensure_collection(connection, request.collection)
        settings = await ingestion_settings(connection, collection_id, parts.settings)
        known = await _compare(connection, settings, collection_id, checked)
    if known is not None:
        return known
    object_key = await parts.originals.put(request.path, request.file_name)
    committing = False
    try:
        async with parts.engine.begin() as connection:
            # Another upload of this source may have come in between: look again, now that none can.
            await lock_source(connection, collection_id, checked.source)
            known = await _compare(connection, settings, collection_id, checked)
            accepted = known or await _queue(parts, connection, collection_id, checked, object_key)
            committing = True
    except BaseException:
        # A commit whose answer was lost may have been done, and its job needs the original. If not, the sweep finds it.
        if not committing:
            await _delete(parts.originals, object_key)
        raise
    if known is not None:
        await _delete(parts.originals, object_key)
    return accepted


async def _delete(originals: Originals, object_key: str) -> None:
    """Delete an original that nothing refers to; what the store refuses the sweep finds later."""
    try:
        await originals.delete(object_key)
    except OriginalsUnavailable as error:
        log.warning("original_not_deleted", object_key=object_key, message=error.message)


async def _check(limits: LimitSettings, request: IngestRequest) -> _Checked:
    source = normalise_source(request.source)
    metadata = None if request.metadata is None else clean_metadata(request.metadata, limits)
    size_bytes, sha256 = await asyncio.to_thread(_measure, request.path, limits.max_upload_mb)
    return _Checked(request, source, metadata, size_bytes, sha256)


def _measure(path: Path, max_upload_mb: int) -> tuple[int, bytes]:
    size = path.stat().st_size
    if size == 0:
        raise EmptyFile("the file is empty (0 bytes)")
    if size > max_upload_mb * 1024 * 1024:
        raise TooLarge(f"the file is larger than {max_upload_mb} MB", limit_mb=max_upload_mb)
    with path.open("rb") as file:
        return size, hashlib.file_digest(file, "sha256").digest()


async def _compare(
    connection: AsyncConnection, settings: IngestionSettings, collection_id: int, checked: _Checked
) -> Accepted | IngestResult | None:
    """Return the answer to an upload that changes no text, or None when it has to be read."""
    served = await find_document(connection, collection_id, checked.source)
    if served is None:
        return None
    title = checked.request.title
    if served.pending_key is not None:
        waiting = await waiting_job(connection, served.id, served.pending_key)
        same = waiting is not None and (waiting.sha256, waiting.title, waiting.metadata) == (
            checked.sha256,
            title,
            checked.metadata,
        )
        return Accepted(waiting.id, served.id, served.source, served.collection) if waiting and same else None
    if not _is_same(served, checked.sha256, settings):
        return None
    changed = _describes_anew(served, title, checked.metadata)
    if changed:
        await update_description(connection, served.id, title, checked.metadata)
    duplicate_of = await find_duplicate(connection, collection_id, checked.sha256, served.id)
    if changed:
        await raise_revision(connection)
    return _unchanged(served, duplicate_of, IngestOutcome.UPDATED if changed else IngestOutcome.UNCHANGED)


async def _queue(
    parts: ReceiveParts, connection: AsyncConnection, collection_id: int, checked: _Checked, object_key: str
) -> Accepted:
    request, job_id = checked.request, parts.new_id()
    document_id = await receive_document(
        connection,
        collection_id=collection_id,
        source=checked.source,
        file_name=request.file_name,
        media_type=request.declared_type or "application/octet-stream",
        size_bytes=checked.size_bytes,
        sha256=checked.sha256,
        object_key=object_key,
        new_id=parts.new_id(),
    )
    # The more a collection has waiting, the later its next job: a huge upload does not starve a small one.
    priority = -await waiting_count(connection, collection_id, most=-_LOWEST_PRIORITY)
    lane = lane_of(checked.size_bytes, parts.limits)
    queue_job_id = await parts.queue.put(connection, job_id, document_id, lane, priority)
    await add_job(
        connection,
        id=job_id,
        document_id=document_id,
        collection_id=collection_id,
        source=checked.source,
        file_name=request.file_name,
        declared_type=request.declared_type,
        object_key=object_key,
        size_bytes=checked.size_bytes,
        sha256=checked.sha256,
        title=request.title,
        metadata_=checked.metadata,
        queue_job_id=queue_job_id,
    )
    return Accepted(job_id, document_id, checked.source, request.collection)


def _is_same(served: DocumentRecord, sha256: bytes, settings: IngestionSettings) -> bool:
    """Same bytes, read, cut and embedded in the same way."""
    return (
        served.is_ready
        and served.sha256 == sha256
        and served.splitter_version == SPLITTER_VERSION
        and served.split_settings_hash == settings.fingerprint(settings.reading(served.media_type))
    )


def _describes_anew(served: DocumentRecord, title: str | None, metadata: JsonObject | None) -> bool:
    return (title is not None and title != served.title) or (metadata is not None and metadata != served.metadata)


def _unchanged(served: DocumentRecord, duplicate_of: UUID | None, outcome: IngestOutcome) -> IngestResult:
    return IngestResult(
        document_id=served.id,
        source=served.source,
        collection=served.collection,
        outcome=outcome,
        status=served.status,
        parent_count=served.parent_count,
        child_count=served.child_count,
        duplicate_of=duplicate_of,
    )
