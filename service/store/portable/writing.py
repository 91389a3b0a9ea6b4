"""Store a document that came from elsewhere, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import ARRAY, Uuid, bindparam, cast, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Document, ParentChunk
from service.store.chunks import NewVersion, replace_version
from service.store.documents import NO_ORIGINAL, find_document, receive_document
from service.store.portable.records import PortableVersion
from service.store.removals import keys_of_document
from service.types import JsonObject, VectorBatch

_ONE_AT_A_TIME = text("select pg_advisory_xact_lock(:lock)")
_LOCK = 0x696D706F  # "impo": ids that are free stay so until the transaction ends


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document on its way in: where it belongs, and what of it is decided here."""

    collection_id: int
    source: str
    metadata: JsonObject
    version: PortableVersion
    vectors: VectorBatch
    object_key: str | None


async def is_stored(connection: AsyncConnection, collection_id: int, source: str, version: PortableVersion) -> bool:
    """Whether the served version of this source is just this one."""
    document = version.document
    stored = await find_document(connection, collection_id, source)
    if stored is None or not stored.is_ready or stored.pending_key is not None:
        return False
    text_sha256 = await connection.scalar(select(Document.text_sha256).where(Document.id == stored.id))
    return (
        stored.sha256.hex() == document.sha256
        and (text_sha256 or b"").hex() == document.text_sha256
        and (stored.title, dict(stored.metadata)) == (document.title, dict(document.metadata))
        and stored.splitter_version == document.splitter_version
        and stored.split_settings_hash == document.split_settings_hash
        and (stored.parent_count, stored.child_count) == (document.parent_count, document.child_count)
    )


async def store(connection: AsyncConnection, arrival: Arrival) -> tuple[UUID, bool, set[str]]:
    """Make it the served version of its source; the caller holds the lock of the source.

    Public ids of document and chunks are kept where nothing else has them; a document that is replaced keeps its own.

    Returns:
        The document's id, whether a version was replaced, and the keys of originals that are not needed any more.
    """
    await connection.execute(_ONE_AT_A_TIME, {"lock": _LOCK})
    document = arrival.version.document
    taken = await connection.scalar(select(Document.id).where(Document.id == document.document_id))
    document_id = await receive_document(
        connection,
        collection_id=arrival.collection_id,
        source=arrival.source,
        file_name=document.file_name,
        media_type=document.extracted.media_type,
        size_bytes=document.size_bytes,
        sha256=bytes.fromhex(document.sha256),
        object_key=arrival.object_key or NO_ORIGINAL,
        new_id=document.document_id if taken is None else uuid4(),
    )
    outdated = await keys_of_document(connection, document_id) - {arrival.object_key or NO_ORIGINAL}
    had_version = await connection.scalar(select(Document.text_sha256).where(Document.id == document_id)) is not None
    await replace_version(connection, _new_version(document_id, arrival), had_version=had_version)
    await _keep_ids(connection, document_id, arrival.version)
    times = {} if had_version else {"created_at": document.created_at, "updated_at": document.updated_at}
    key = {"object_key": arrival.object_key}
    await connection.execute(update(Document).where(Document.id == document_id).values(**key, **times))
    return document_id, had_version, outdated


def _new_version(document_id: UUID, arrival: Arrival) -> NewVersion:
    document = arrival.version.document
    return NewVersion(
        document_id=document_id,
        object_key=arrival.object_key or NO_ORIGINAL,
        file_name=document.file_name,
        size_bytes=document.size_bytes,
        sha256=bytes.fromhex(document.sha256),
        text_sha256=bytes.fromhex(document.text_sha256),
        title=document.title or "",
        metadata=arrival.metadata,
        extracted=document.extracted,
        chunks=arrival.version.chunks,
        embeddings=arrival.vectors,
    )


async def _keep_ids(connection: AsyncConnection, document_id: UUID, version: PortableVersion) -> None:
    """Give the chunks the ids that they had, unless others have them. Mostly they have them already, being digests."""
    await _keep(connection, ParentChunk, document_id, [chunk.chunk_id for chunk in version.parents])
    await _keep(connection, ChildChunk, document_id, [chunk.chunk_id for chunk in version.children])


async def _keep(
    connection: AsyncConnection,
    chunk: type[ParentChunk] | type[ChildChunk],
    document_id: UUID,
    ids: Sequence[UUID],
) -> None:
    mine = select(chunk.chunk_id).where(chunk.document_id == document_id).order_by(chunk.ordinal)
    if list(await connection.scalars(mine)) == list(ids):
        return
    wanted = func.any(cast(bindparam("ids", list(ids)), ARRAY(Uuid)))
    others = select(chunk.id).where(chunk.chunk_id == wanted, or_(chunk.document_id != document_id)).limit(1)
    if len(set(ids)) < len(ids) or await connection.scalar(others) is not None:
        return
    by_ordinal = (
        func.unnest(cast(bindparam("all_ids", list(ids)), ARRAY(Uuid)))
        .table_valued("id", with_ordinality="place", name="kept")
        .render_derived()
    )
    await connection.execute(
        update(chunk)
        .where(chunk.document_id == document_id, chunk.ordinal == by_ordinal.c.place - 1)
        .values(chunk_id=by_ordinal.c.id)
    )
