"""INGEST FLOW: extract → split → embed → store."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import SplitSettings
from service.embed import Embedder
from service.embed.passage_text import passage_texts
from service.errors import Conflict, FuziError, NoText
from service.extract import Extractor
from service.receive import ReceiveParts, Upload, receive
from service.split import split
from service.steps import Steps
from service.store.chunks import NewVersion, lock_document, replace_version
from service.store.documents import fail_document, find_duplicate, set_status
from service.store.originals import Originals
from service.types import (
    Chunks,
    DocumentStatus,
    ExtractedText,
    ExtractRequest,
    IngestOutcome,
    IngestRequest,
    IngestResult,
    VectorBatch,
)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class IngestParts:
    """What making an upload searchable works with."""

    engine: AsyncEngine
    originals: Originals
    extractor: Extractor
    embedder: Embedder
    split_settings: SplitSettings
    heading_context: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Called as the work goes on: ``step(word)`` as a step begins, ``embedded(done, total)`` after each batch."""

    step: Callable[[str], None] = lambda _word: None
    embedded: Callable[[int, int], None] = lambda _done, _total: None


async def ingest(
    parts: IngestParts, receive_parts: ReceiveParts, request: IngestRequest, progress: Progress | None = None
) -> IngestResult:
    """Receive one file and make it searchable; afterwards both legs find it.

    Raises:
        InvalidInput, TooLarge: the request breaks a rule; nothing was written.
        ExtractionFailed, EmbeddingFailed, Unavailable: see `make_searchable`.
        Conflict: the document was deleted, or a newer upload of its source took over, meanwhile.
    """
    received = await receive(receive_parts, request)
    if isinstance(received, IngestResult):
        return received
    return await make_searchable(parts, received, progress or Progress())


async def make_searchable(parts: IngestParts, upload: Upload, progress: Progress) -> IngestResult:
    """Make a received upload the served version of its document: extract → split → embed → store.

    Whatever fails is recorded with the document, and a version that was served before goes on being served.
    """
    steps = Steps(progress.step)
    try:
        with steps.step("extract"):
            extracted = await _extract(parts, upload)
        with steps.step("split"):
            chunks = await _split(parts, extracted)
        title = upload.title or extracted.title or Path(upload.file_name).stem
        with steps.step("embed"):
            embeddings = await _embed(parts, upload, extracted, chunks, title, progress)
        with steps.step("store"):
            outcome, duplicate_of = await _store(parts, upload, extracted, chunks, embeddings, title)
    except FuziError as error:
        await _record_failure(parts, upload, error)
        raise
    timings_ms = steps.timings_ms()
    log.info("ingested", document_id=str(upload.document_id), outcome=outcome, **timings_ms)
    return IngestResult(
        document_id=upload.document_id,
        source=upload.source,
        collection=upload.collection,
        outcome=outcome,
        status=extracted.status,
        parent_count=len(chunks.parents),
        child_count=len(chunks.children),
        warnings=extracted.warnings,
        duplicate_of=duplicate_of,
        timings_ms=timings_ms,
    )


async def _extract(parts: IngestParts, upload: Upload) -> ExtractedText:
    await _show_status(parts, upload, DocumentStatus.EXTRACTING)
    return await parts.extractor.extract(ExtractRequest(upload.path, upload.file_name, upload.declared_type))


async def _split(parts: IngestParts, extracted: ExtractedText) -> Chunks:
    chunks = await asyncio.to_thread(split, extracted, parts.split_settings)
    if not chunks.children:
        raise NoText("the file holds no text that a search could find")
    return chunks


async def _embed(
    parts: IngestParts, upload: Upload, extracted: ExtractedText, chunks: Chunks, title: str, progress: Progress
) -> VectorBatch:
    await _show_status(parts, upload, DocumentStatus.EMBEDDING)
    texts = passage_texts(extracted.text, chunks, title if parts.heading_context else None)
    progress.embedded(0, len(texts))
    return await parts.embedder.embed_passages(texts, lambda done: progress.embedded(done, len(texts)))


async def _store(
    parts: IngestParts,
    upload: Upload,
    extracted: ExtractedText,
    chunks: Chunks,
    embeddings: VectorBatch,
    title: str,
) -> tuple[IngestOutcome, UUID | None]:
    """Put the new version in place of the old one in one transaction: readers see the one, then the other."""
    version = NewVersion(
        document_id=upload.document_id,
        object_key=upload.object_key,
        file_name=upload.file_name,
        size_bytes=upload.size_bytes,
        sha256=upload.sha256,
        text_sha256=hashlib.sha256(extracted.text.encode()).digest(),
        title=title,
        metadata=upload.metadata,
        extracted=extracted,
        chunks=chunks,
        embeddings=embeddings,
    )
    async with parts.engine.begin() as connection:
        replaced = await lock_document(connection, upload.document_id, upload.object_key)
        if replaced is None:
            raise Conflict("the document was deleted, or a newer upload of its source was accepted, meanwhile")
        await replace_version(connection, version)
        duplicate_of = await find_duplicate(connection, upload.collection_id, upload.sha256, upload.document_id)
    if replaced.object_key is not None:
        await parts.originals.delete(replaced.object_key)
    return IngestOutcome.REPLACED if replaced.had_version else IngestOutcome.CREATED, duplicate_of


async def _show_status(parts: IngestParts, upload: Upload, status: DocumentStatus) -> None:
    async with parts.engine.begin() as connection:
        await set_status(connection, upload.document_id, upload.object_key, status)


async def _record_failure(parts: IngestParts, upload: Upload, error: FuziError) -> None:
    log.warning("ingest_failed", document_id=str(upload.document_id), code=error.code, message=error.message)
    async with parts.engine.begin() as connection:
        kept = await fail_document(connection, upload.document_id, upload.object_key, upload.sha256, error)
    if not kept:
        await parts.originals.delete(upload.object_key)
