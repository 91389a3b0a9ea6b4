"""RECEIVE FLOW: check → compare → keep the original → note the upload. What is acknowledged here is never lost."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import LimitSettings, SplitSettings
from service.errors import EmptyFile, TooLarge
from service.split import SPLITTER_VERSION, settings_hash
from service.store.collections import ensure_collection
from service.store.documents import (
    DocumentRecord,
    find_document,
    find_duplicate,
    receive_document,
    update_description,
)
from service.store.metadata import clean_metadata
from service.store.originals import Originals
from service.store.sources import normalise_source
from service.types import IngestOutcome, IngestRequest, IngestResult, JsonObject


@dataclass(frozen=True, slots=True)
class ReceiveParts:
    """What receiving an upload works with."""

    engine: AsyncEngine
    originals: Originals
    split_settings: SplitSettings
    limits: LimitSettings
    new_id: Callable[[], UUID]


@dataclass(frozen=True, slots=True)
class Upload:
    """An accepted upload: its original and its row are durable, its text is not read yet."""

    document_id: UUID
    collection: str
    collection_id: int
    source: str
    object_key: str
    path: Path
    file_name: str
    declared_type: str | None
    size_bytes: int
    sha256: bytes
    title: str | None
    metadata: JsonObject | None


async def receive(parts: ReceiveParts, request: IngestRequest) -> Upload | IngestResult:
    """Accept a file, or report at once that the served version already is this file.

    Raises:
        InvalidInput: source, collection or metadata break their rules, or the file is empty.
        TooLarge: the file is over ``limits.max_upload_mb``.
        OriginalsUnavailable: the original cannot be kept; nothing was written.
    """
    source = normalise_source(request.source)
    metadata = None if request.metadata is None else clean_metadata(request.metadata, parts.limits)
    size_bytes, sha256 = await asyncio.to_thread(_measure, request.path, parts.limits.max_upload_mb)
    async with parts.engine.begin() as connection:
        collection_id = await ensure_collection(connection, request.collection)
        served = await find_document(connection, collection_id, source)
        if served is not None and _is_same(served, sha256, parts.split_settings):
            changed = _describes_anew(served, request.title, metadata)
            if changed:
                await update_description(connection, served.id, request.title, metadata)
            duplicate_of = await find_duplicate(connection, collection_id, sha256, served.id)
            return _unchanged(served, duplicate_of, IngestOutcome.UPDATED if changed else IngestOutcome.UNCHANGED)

    object_key = await parts.originals.put(request.path, request.file_name)
    try:
        async with parts.engine.begin() as connection:
            document_id = await receive_document(
                connection,
                collection_id=collection_id,
                source=source,
                file_name=request.file_name,
                media_type=request.declared_type or "application/octet-stream",
                size_bytes=size_bytes,
                sha256=sha256,
                object_key=object_key,
                new_id=parts.new_id(),
            )
    except BaseException:
        await parts.originals.delete(object_key)
        raise
    return Upload(
        document_id=document_id,
        collection=request.collection,
        collection_id=collection_id,
        source=source,
        object_key=object_key,
        path=request.path,
        file_name=request.file_name,
        declared_type=request.declared_type,
        size_bytes=size_bytes,
        sha256=sha256,
        title=request.title,
        metadata=metadata,
    )


def _measure(path: Path, max_upload_mb: int) -> tuple[int, bytes]:
    size = path.stat().st_size
    if size == 0:
        raise EmptyFile("the file is empty (0 bytes)")
    if size > max_upload_mb * 1024 * 1024:
        raise TooLarge(f"the file is larger than {max_upload_mb} MB", limit_mb=max_upload_mb)
    with path.open("rb") as file:
        return size, hashlib.file_digest(file, "sha256").digest()


def _is_same(served: DocumentRecord, sha256: bytes, settings: SplitSettings) -> bool:
    """Same bytes, cut in the same way, and nothing newer on its way."""
    return (
        served.is_ready
        and served.pending_key is None
        and served.sha256 == sha256
        and served.splitter_version == SPLITTER_VERSION
        and served.split_settings_hash == settings_hash(settings)
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
