"""Documents that were taken in with other settings than would be used now. Callers own the transaction."""

from __future__ import annotations

from collections.abc import Collection as Some
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from service.config.ingestion import IngestionSettings, reading_in
from service.db.models import Document
from service.store.documents import NO_ORIGINAL, READY

_FINGERPRINT = func.coalesce(Document.split_settings_hash, "")
_VERSION = func.coalesce(Document.splitter_version, "")
_HAS_ORIGINAL = Document.object_key.is_not(None)


@dataclass(frozen=True, slots=True)
class Kind:
    """What documents can have in common of how they were taken in."""

    media_type: str
    has_original: bool
    splitter_version: str
    fingerprint: str

    def is_outdated(self, settings: IngestionSettings, splitter_version: str) -> bool:
        """Whether taking such a document in now could give other chunks or other embedded texts.

        Without its original a file cannot be read anew, so how that was done does not count.
        """
        reading = settings.reading(self.media_type) if self.has_original else reading_in(self.fingerprint)
        return (self.splitter_version, self.fingerprint) != (splitter_version, settings.fingerprint(reading))


@dataclass(frozen=True, slots=True)
class Kinds:
    """Documents of one kind in a collection; ``waiting_count`` of them have an upload or a new cut on its way."""

    collection_id: int
    kind: Kind
    count: int
    waiting_count: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """A document that is to be cut anew; ``object_key`` is what its job and ``pending_key`` have."""

    id: UUID
    source: str
    file_name: str
    media_type: str
    object_key: str
    size_bytes: int
    sha256: bytes


async def kinds_of_documents(connection: AsyncConnection, collection_id: int | None = None) -> list[Kinds]:
    """Served documents, counted by kind, of one collection or of all."""
    query = (
        select(
            Document.collection_id,
            Document.media_type,
            _HAS_ORIGINAL,
            _VERSION,
            _FINGERPRINT,
            func.count(),
            func.count(Document.pending_key),
        )
        .where(Document.status.in_(READY))
        .group_by(Document.collection_id, Document.media_type, _HAS_ORIGINAL, _VERSION, _FINGERPRINT)
    )
    if collection_id is not None:
        query = query.where(Document.collection_id == collection_id)
    rows = await connection.execute(query)
    return [
        Kinds(of, Kind(media_type, has_original, version, fingerprint), count, waiting_count)
        for of, media_type, has_original, version, fingerprint, count, waiting_count in rows
    ]


async def claim(connection: AsyncConnection, collection_id: int, kinds: Some[Kind], limit: int) -> list[Claimed]:
    """Mark some served documents of these kinds as waiting for a new version, which is to be made of the same original.

    A document that waits already is passed over, and one that somebody is just changing.
    """
    described = tuple_(Document.media_type, _HAS_ORIGINAL, _VERSION, _FINGERPRINT)
    wanted = [(kind.media_type, kind.has_original, kind.splitter_version, kind.fingerprint) for kind in kinds]
    free = (
        select(Document.id)
        .where(
            Document.collection_id == collection_id,
            Document.status.in_(READY),
            Document.pending_key.is_(None),
            described.in_(wanted),
        )
        .order_by(Document.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    key = func.coalesce(Document.object_key, NO_ORIGINAL)
    statement = (
        update(Document)
        .where(Document.id.in_(free.scalar_subquery()))
        .values(pending_key=key)
        .returning(
            Document.id,
            Document.source,
            Document.file_name,
            Document.media_type,
            key,
            Document.size_bytes,
            Document.sha256,
        )
    )
    return [Claimed(*row) for row in await connection.execute(statement)]
