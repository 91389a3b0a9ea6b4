"""INGEST FLOW: extract → split → embed → store."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config.ingestion import IngestionSettings, reading_in
from service.db.corpus import raise_revision
from service.db.engine import writing
from service.db.spaces import active_space, hold_for_writing
from service.embed import CachedEmbedder, EmbeddedPassages, FollowingEmbedder, in_thread
from service.embed.passage_text import passage_texts
from service.errors import EmbeddingRefused, JobCancelled, NoText
from service.extract import Extractor
from service.queue.attempts import (
    JobProgress,
    embedded_chunks,
    end_all_cancelled,
    extracted_text,
    finish_job,
    kept_extracted,
    show_stage,
)
from service.queue.jobs import JobRecord
from service.queue.packing import pack, unpack
from service.split import split
from service.steps import Steps
from service.store.chunks import NewVersion, lock_document, replace_version
from service.store.collections import ingestion_settings
from service.store.documents import NO_ORIGINAL, set_status
from service.store.embedding_cache import DatabaseEmbeddingCache
from service.store.removals import keys_of_document, note_removals
from service.store.stored_text import StoredText, stored_text
from service.types import Chunks, DocumentStatus, EmbeddingModel, ExtractedText, ExtractRequest, IngestOutcome

log = structlog.get_logger()

type Fetch = Callable[[], Awaitable[Path]]
"""Makes a copy of the upload's bytes on this machine."""


@dataclass(frozen=True, slots=True)
class IngestParts:
    """What making an upload searchable works with; ``settings`` are those of the service."""

    engine: AsyncEngine
    extractor: Extractor
    embedder: FollowingEmbedder
    settings: IngestionSettings


@dataclass(frozen=True, slots=True)
class _Found:
    """What there is before the work begins: the settings for the whole job, whoever changes them meanwhile, the text
    that an earlier attempt kept, and that of the served version if it was made of the same original."""

    settings: IngestionSettings
    kept: bytes | None
    stored: StoredText | None


@dataclass(frozen=True, slots=True)
class _Read:
    """The text of an upload, and the settings by which it was read: see `IngestionSettings.reading`.

    ``packed`` is the text as it is to be kept with the job, None when it is kept already.
    """

    extracted: ExtractedText
    reading: str
    packed: bytes | None = None


async def ingest(
    parts: IngestParts, job: JobRecord, fetch: Fetch, steps: Steps, progress: JobProgress
) -> IngestOutcome:
    """Make an upload the served version of its document; afterwards both legs find it.

    Nothing that is served changes before the last step, which is one transaction. A retry goes on after the last
    step that was done: the extracted text is kept with the job, vectors in the cache. A job whose original is the
    one of the served version cuts its stored text anew, unless the file would be read in another way now.

    Args:
        fetch: called when the file itself has to be read.
        steps: times the steps and tells which one is at work.
        progress: told how many child chunks are embedded.

    Raises:
        ExtractionFailed: this file cannot be read.
        EmbeddingFailed, Unavailable: a part did not answer properly, or the model that the database changed to cannot
            be asked with the settings of this process.
        JobCancelled: the document was deleted, or a newer upload took over.
    """
    with steps.step("extract"):
        found = await _find(parts, job)
    read = await _extract(parts, found, job, fetch, steps)
    settings, extracted = found.settings, read.extracted
    with steps.step("split"):
        chunks = await _split(parts, settings, job, read)
    outcome = None
    while outcome is None:  # a switch to another model came between: its vectors have to be of that one
        with steps.step("embed"):
            async with _showing(parts, job, DocumentStatus.EMBEDDING) as connection:
                embedder = await _embedder(parts, connection)
            context = _title(job, extracted) if settings.heading_context else None
            texts = await asyncio.to_thread(passage_texts, extracted.text, chunks, context)
            embedded = await _embed(parts, embedder, texts, progress)
        with steps.step("store"):
            counts = embedded_chunks(len(texts), embedded.embedded_count, embedded.reused_count)
            async with _showing(parts, job, DocumentStatus.STORING, **counts):
                version = _version(job, extracted, chunks, embedded)
            outcome = await _store(parts, job, version, embedder.model, steps)
    log.info("ingested", document_id=str(job.document_id), outcome=outcome, **steps.timings_ms())
    return outcome


async def _find(parts: IngestParts, job: JobRecord) -> _Found:
    async with parts.engine.connect() as connection:
        settings = await ingestion_settings(connection, job.collection_id, parts.settings)
        kept = await kept_extracted(connection, job.id)
        return _Found(settings, kept, await stored_text(connection, job.document_id, job.object_key))


async def _extract(parts: IngestParts, found: _Found, job: JobRecord, fetch: Fetch, steps: Steps) -> _Read:
    settings, stored = found.settings, found.stored
    with steps.step("extract"):
        known = None if found.kept is None else await asyncio.to_thread(unpack, found.kept)
    if known is not None and known[0] == settings.reading(known[1].media_type):
        return _Read(known[1], known[0])
    if stored is not None:
        read = _Read(stored.extracted, reading_in(stored.fingerprint))
        if job.object_key == NO_ORIGINAL or read.reading == settings.reading(read.extracted.media_type):
            return read
    with steps.step("fetch"):
        original = await fetch()
    with steps.step("extract"):
        request = ExtractRequest(original, job.file_name, job.declared_type, settings.extract.reflow)
        extracted = await parts.extractor.extract(request)
        if stored is not None:  # nobody uploaded it anew: it keeps the title that it was given
            extracted = replace(extracted, title=stored.extracted.title)
        reading = settings.reading(extracted.media_type)
        return _Read(extracted, reading, await asyncio.to_thread(pack, extracted, reading))


async def _split(parts: IngestParts, settings: IngestionSettings, job: JobRecord, read: _Read) -> Chunks:
    kept = {} if read.packed is None else extracted_text(read.packed)
    async with _showing(parts, job, DocumentStatus.SPLITTING, **kept) as connection:
        embed = in_thread(await _embedder(parts, connection)) if settings.split.soft_cut else None
    chunks = await asyncio.to_thread(split, read.extracted, settings.split, embed)
    if not chunks.children:
        raise NoText("the file holds no text that a search could find")
    return replace(chunks, settings_hash=settings.fingerprint(read.reading))


async def _embedder(parts: IngestParts, connection: AsyncConnection) -> CachedEmbedder:
    """The embedder of the database's active model, with that model's cache."""
    space = await active_space(connection)
    parts.embedder.follow(space)
    return CachedEmbedder(parts.embedder.current, DatabaseEmbeddingCache(parts.engine, space.model))


async def _embed(
    parts: IngestParts, embedder: CachedEmbedder, texts: list[str], progress: JobProgress
) -> EmbeddedPassages:
    progress.child_count = len(texts)
    try:
        embedded = await embedder.embed_and_count(texts, progress.embedded)
    except EmbeddingRefused as refusal:
        raise parts.embedder.why_refused(refusal) from refusal
    progress.embedded_count, progress.reused_count = embedded.embedded_count, embedded.reused_count
    return embedded


async def _store(
    parts: IngestParts, job: JobRecord, version: NewVersion, model: EmbeddingModel, steps: Steps
) -> IngestOutcome | None:
    """Put the new version in place of the old one in one transaction: readers see the one, then the other.

    None, and nothing is written, when ``model`` is not that of the database any more.
    """
    async with writing(parts.engine) as connection:
        replaced = await lock_document(connection, job.document_id, job.object_key)
        if replaced is None:
            raise JobCancelled("the document was deleted, or a newer upload of its source was accepted, meanwhile")
        if (await hold_for_writing(connection)).model != model:
            return None
        outdated = await keys_of_document(connection, job.document_id) - {job.object_key}
        await replace_version(connection, version, had_version=replaced.had_version)
        outcome = IngestOutcome.REPLACED if replaced.had_version else IngestOutcome.CREATED
        await finish_job(connection, job.id, version.extracted.status, outcome, steps.timings_ms())
        await end_all_cancelled(connection, job.document_id, "a newer version of the document was stored")
        await note_removals(connection, outdated)
        await raise_revision(connection)
    return outcome


def _version(job: JobRecord, extracted: ExtractedText, chunks: Chunks, embedded: EmbeddedPassages) -> NewVersion:
    return NewVersion(
        document_id=job.document_id,
        object_key=job.object_key,
        file_name=job.file_name,
        size_bytes=job.size_bytes,
        sha256=job.sha256,
        text_sha256=hashlib.sha256(extracted.text.encode()).digest(),
        title=_title(job, extracted),
        metadata=job.metadata,
        extracted=extracted,
        chunks=chunks,
        embeddings=embedded.vectors,
    )


def _title(job: JobRecord, extracted: ExtractedText) -> str:
    return job.title or extracted.title or Path(job.file_name).stem


@asynccontextmanager
async def _showing(
    parts: IngestParts, job: JobRecord, status: DocumentStatus, **done: Any
) -> AsyncIterator[AsyncConnection]:
    """A short transaction that shows the stage at work, with what the one before has done, and reads for it."""
    async with parts.engine.begin() as connection:
        # the document before its job, in this order everywhere, so that no two transactions wait for each other
        await set_status(connection, job.document_id, job.object_key, status)
        await show_stage(connection, job.id, status, **done)
        yield connection
