"""EXPORT FLOW: hold a moment → documents → chunks → vectors → originals → read back → name."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from pydantic import TypeAdapter
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.archive import ArchiveWriter, new_archive, open_archive
from service.archive.writer import MemberSink
from service.db.dump.session import unhurried
from service.db.keep_originals import keep_originals
from service.db.spaces import hold_for_reading
from service.errors import NotFound
from service.flows.archives.parts import (
    COLLECTION,
    COLLECTION_VERSION,
    ORIGINALS,
    ArchiveParts,
    Watch,
    provenance,
    silent,
)
from service.store.originals import Originals
from service.store.portable.reading import (
    collection_settings,
    read_children,
    read_document,
    read_parents,
    read_vectors,
    served_documents,
)
from service.store.portable.records import PortableChild, PortableDocument, PortableParent

log = structlog.get_logger()

DOCUMENTS, PARENTS, CHILDREN, VECTORS = "documents.jsonl", "parents.jsonl", "children.jsonl", "vectors.f32"
DOCUMENT_LINE = TypeAdapter(PortableDocument)
PARENT_LINE = TypeAdapter(PortableParent)
CHILD_LINE = TypeAdapter(PortableChild)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported. ``left_out`` counts documents without a served version (failed, or on their way);
    ``missing`` are sources whose original the store lost or damaged."""

    path: Path
    size_bytes: int
    collection: str
    document_count: int
    child_count: int
    left_out: int
    missing: tuple[str, ...]


async def export(
    parts: ArchiveParts, collection: str, path: Path, *, overwrite: bool = False, watch: Watch = silent
) -> ExportReport:
    """Write the served documents of a collection, as of one moment, into the file ``path``; work goes on meanwhile.

    Raises:
        CollectionNotFound: there is no such collection.
        InvalidInput, Conflict, Unavailable: see `service.archive.new_archive`.
        Conflict: a backup is at work.
        NotMigrated, DatabaseUnavailable, OriginalsUnavailable: a part does not play along.
    """
    with new_archive(path, COLLECTION, COLLECTION_VERSION, overwrite=overwrite) as archive:
        async with unhurried(parts.dsn, "REPEATABLE READ") as connection:
            await keep_originals(connection)
            await connection.commit()
            await connection.execute(text("set transaction read only"))
            facts, missing = await _write(connection, parts.originals, collection, archive, watch)
        archive.finish({**provenance(), **facts})
        verify = partial(watch, "verify")
        await asyncio.to_thread(open_archive, archive.path, COLLECTION, COLLECTION_VERSION, verify)
        size_bytes = archive.path.stat().st_size
    counts = facts["counts"]
    log.info("exported", collection=collection, path=str(path), size_bytes=size_bytes)
    return ExportReport(
        path, size_bytes, collection, counts["documents"], counts["child_chunks"], facts["left_out"], tuple(missing)
    )


async def _write(
    connection: AsyncConnection, originals: Originals, collection: str, archive: ArchiveWriter, watch: Watch
) -> tuple[dict[str, Any], list[str]]:
    space = await hold_for_reading(connection)
    collection_id, settings = await collection_settings(connection, collection)
    served, left_out = await served_documents(connection, collection_id)
    ids, uploaded = [document_id for document_id, _ in served], dict[UUID, tuple[str, str]]()
    counts = {"documents": len(ids), "parent_chunks": 0, "child_chunks": 0}
    with archive.member(DOCUMENTS) as member:
        for document_id in ids:
            document = await read_document(connection, document_id)
            uploaded[document_id] = document.source, document.sha256
            counts["parent_chunks"] += document.parent_count
            counts["child_chunks"] += document.child_count
            member.write(DOCUMENT_LINE.dump_json(document) + b"\n")
            watch("documents", member.size, None)
    with archive.member(PARENTS) as member:
        for document_id in ids:
            await _lines(PARENT_LINE, read_parents(connection, document_id), member)
            watch("chunks", member.size, None)
    with archive.member(CHILDREN) as member:
        for document_id in ids:
            await _lines(CHILD_LINE, read_children(connection, document_id), member)
            watch("chunks", member.size, None)
    with archive.member(VECTORS) as member:
        total = counts["child_chunks"] * space.model.dimension * 4
        for document_id in ids:
            async for piece in read_vectors(connection, document_id):
                member.write(piece)
                watch("vectors", member.size, total)
    missing = []
    for document_id, key in served:
        source, sha256 = uploaded[document_id]
        # looked at before it is written: an import would refuse the whole file for one original that is another
        if key is None or await _digest(originals, key) != sha256:
            missing.append(source)
        else:
            await _copy(originals, key, f"{ORIGINALS}/{document_id}", archive, watch)
    return {
        "collection": {"name": collection, "settings": settings},
        "embedding_model": asdict(space.model),
        "vectors": {"type": "float32", "byte_order": "little", "dimension": space.model.dimension},
        "counts": counts,
        "left_out": left_out,
    }, missing


async def _lines(line: TypeAdapter[Any], records: AsyncIterator[Any], member: MemberSink) -> None:
    async for record in records:
        member.write(line.dump_json(record) + b"\n")


async def _digest(originals: Originals, key: str) -> str | None:
    """SHA-256 of an original in hexadecimal digits; None when the store does not have it any more."""
    try:
        _size, pieces = await originals.stream(key)
    except NotFound:
        return None
    digest = hashlib.sha256()
    async for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


async def _copy(originals: Originals, key: str, name: str, archive: ArchiveWriter, watch: Watch) -> None:
    _size, pieces = await originals.stream(key)
    with archive.member(name) as member:
        async for piece in pieces:
            member.write(piece)
            watch("originals", member.size, None)
