"""INGEST FLOW: extract → split → embed → store."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import SplitSettings
from service.db.corpus import raise_revision
from service.db.engine import writing
from service.db.spaces import active_space, hold_for_writing
from service.embed import CachedEmbedder, EmbeddedPassages, FollowingEmbedder
from service.embed.passage_text import passage_texts
from service.errors import EmbeddingRefused, JobCancelled, NoText
from service.extract import Extractor
from service.queue.attempts import (
    JobProgress,
    end_all_cancelled,
    finish_job,
    keep_extracted,
    kept_extracted,
    show_embedding,
    show_stage,
)
from service.queue.jobs import JobRecord
from service.queue.packing import pack, unpack
from service.split import SentenceEmbedder, split
from service.steps import Steps
from service.store.chunks import NewVersion, lock_document, replace_version
from service.store.documents import set_status
from service.store.embedding_cache import DatabaseEmbeddingCache
from service.store.removals import keys_of_document, note_removals
from service.types import Chunks, DocumentStatus, EmbeddingModel, ExtractedText, ExtractRequest, IngestOutcome

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class IngestParts:
    """What making an upload searchable works with."""

    engine: AsyncEngine
    extractor: Extractor
    embedder: FollowingEmbedder
    split_settings: SplitSettings
    heading_context: bool


async def ingest(
    parts: IngestParts, job: JobRecord, original: Path, steps: Steps, progress: JobProgress
) -> IngestOutcome:
    """Make an upload the served version of its document; afterwards both legs find it.

    Nothing that is served changes before the last step, which is one transaction. A retry goes on after the last
    step that was done: the extracted text is kept with the job, vectors in the cache.

    Args:
        original: a copy of the upload's bytes on this machine.
        steps: times the steps and tells which one is at work.
        progress: told how many child chunks are embedded.

    Raises:
        ExtractionFailed: this file cannot be read.
        EmbeddingFailed, Unavailable: a part did not answer properly, or the model that the database changed to cannot
            be asked with the settings of this process.
        JobCancelled: the document was deleted, or a newer upload took over.
    """
    with steps.step("extract"):
        extracted = await _extract(parts, job, original)
    with steps.step("split"):
        chunks = await _split(parts, job, extracted)
    outcome = None
    while outcome is None:  # a switch to another model came between: its vectors have to be of that one
        with steps.step("embed"):
            embedder = await _embedder(parts)
            embedded = await _embed(parts, embedder, job, extracted, chunks, progress=progress)
        with steps.step("store"):
            version = _version(job, extracted, chunks, embedded)
            outcome = await _store(parts, job, version, embedder.model, steps)
    log.info("ingested", document_id=str(job.document_id), outcome=outcome, **steps.timings_ms())
    return outcome


async def _extract(parts: IngestParts, job: JobRecord, original: Path) -> ExtractedText:
    async with parts.engine.begin() as connection:
        kept = await kept_extracted(connection, job.id)
    known = None if kept is None else await asyncio.to_thread(unpack, kept)
    if known is not None:
        return known
    await _show(parts, job, DocumentStatus.EXTRACTING)
    extracted = await parts.extractor.extract(ExtractRequest(original, job.file_name, job.declared_type))
    packed = await asyncio.to_thread(pack, extracted)
    async with parts.engine.begin() as connection:
        await keep_extracted(connection, job.id, packed)
    return extracted


async def _split(parts: IngestParts, job: JobRecord, extracted: ExtractedText) -> Chunks:
    await _show(parts, job, DocumentStatus.SPLITTING)
    embed = _in_thread(await _embedder(parts)) if parts.split_settings.soft_cut else None
    chunks = await asyncio.to_thread(split, extracted, parts.split_settings, embed)
    if not chunks.children:
        raise NoText("the file holds no text that a search could find")
    return chunks


async def _embedder(parts: IngestParts) -> CachedEmbedder:
    """The embedder of the database's active model, with that model's cache."""
    async with parts.engine.connect() as connection:
        space = await active_space(connection)
    parts.embedder.follow(space)
    return CachedEmbedder(parts.embedder.current, DatabaseEmbeddingCache(parts.engine, space.model))


def _in_thread(embedder: CachedEmbedder) -> SentenceEmbedder:
    """The embedder as the pure, synchronous splitter can call it from its thread, for soft cuts."""
    loop = asyncio.get_running_loop()
    return lambda texts: asyncio.run_coroutine_threadsafe(embedder.embed_passages(texts), loop).result()


async def _embed(
    parts: IngestParts,
    embedder: CachedEmbedder,
    job: JobRecord,
    extracted: ExtractedText,
    chunks: Chunks,
    *,
    progress: JobProgress,
) -> EmbeddedPassages:
    await _show(parts, job, DocumentStatus.EMBEDDING)
    context = _title(job, extracted) if parts.heading_context else None
    texts = await asyncio.to_thread(passage_texts, extracted.text, chunks, context)
    progress.child_count = len(texts)
    try:
        embedded = await embedder.embed_and_count(texts, progress.embedded)
    except EmbeddingRefused as refusal:
        raise parts.embedder.why_refused(refusal) from refusal
    progress.embedded_count, progress.reused_count = embedded.embedded_count, embedded.reused_count
    async with parts.engine.begin() as connection:
        await show_embedding(connection, job.id, len(texts), embedded.embedded_count, embedded.reused_count)
    return embedded


async def _store(
    parts: IngestParts, job: JobRecord, version: NewVersion, model: EmbeddingModel, steps: Steps
) -> IngestOutcome | None:
    """Put the new version in place of the old one in one transaction: readers see the one, then the other.

    None, and nothing is written, when ``model`` is not that of the database any more.
    """
    await _show(parts, job, DocumentStatus.STORING)
    async with writing(parts.engine) as connection:
        replaced = await lock_document(connection, job.document_id, job.object_key)
        if replaced is None:
            raise JobCancelled("the document was deleted, or a newer upload of its source was accepted, meanwhile")
        if (await hold_for_writing(connection)).model != model:
            return None
        outdated = await keys_of_document(connection, job.document_id) - {job.object_key}
        await replace_version(connection, version)
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


async def _show(parts: IngestParts, job: JobRecord, status: DocumentStatus) -> None:
    async with parts.engine.begin() as connection:
        # the document before its job, in this order everywhere, so that no two transactions wait for each other
        await set_status(connection, job.document_id, job.object_key, status)
        await show_stage(connection, job.id, status)
