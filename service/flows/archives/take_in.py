"""IMPORT FLOW: verify → compare models → per document: check → keep the original → store. Nothing is embedded."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.archive import Archive, open_archive
from service.config import LimitSettings
from service.config.collection import CollectionSettings
from service.config.problems import first_problem
from service.db.corpus import raise_revision
from service.db.engine import writing
from service.db.spaces import active_space, hold_for_writing
from service.db.spaces.alone import alone
from service.db.spaces.deferred import build_deferred, defer_index
from service.embed import CachedEmbedder
from service.embed.passage_text import passage_texts
from service.errors import InvalidArchive, ModelMismatch
from service.flows.archives.lines import CollectionReader
from service.flows.archives.parts import COLLECTION, COLLECTION_VERSION, ORIGINALS, Watch, silent
from service.queue.attempts import end_all_cancelled
from service.store.collections import adopt_settings, ensure_collection, own_heading_context
from service.store.documents import lock_source
from service.store.metadata import clean_metadata
from service.store.originals import Originals
from service.store.portable.records import PortableVersion
from service.store.portable.writing import Arrival, is_stored, store
from service.store.removals import note_removals
from service.store.sources import normalise_source
from service.types import EmbeddingModel, IngestOutcome, VectorBatch

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ImportParts:
    """What importing works with. ``embedder`` None takes the vectors of the archive, else all chunks are embedded.

    ``heading_context`` is that of the service, for a collection that has none of its own.
    """

    engine: AsyncEngine
    originals: Originals
    limits: LimitSettings
    embedder: CachedEmbedder | None = None
    heading_context: bool = True


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of the documents: ``created``, ``replaced`` and ``unchanged`` count documents."""

    collection: str
    outcomes: dict[str, int]
    child_count: int = 0
    embedded_count: int = 0
    reused_count: int = 0


async def take_in(
    parts: ImportParts, path: Path, *, collection: str | None = None, watch: Watch = silent
) -> ImportReport:
    """Take an exported collection in, under its own name or another one.

    The file is checked as a whole before anything is written. Each document is one transaction: after a failure the
    ones before it are in, and the same call again passes over them as unchanged. A document whose source exists is
    replaced, as by an upload; uploads of it that are under way end as cancelled. Into an empty database the vectors
    come without their index, which is built over all of them at the end (`service.db.spaces.deferred`).

    Raises:
        InvalidArchive: the file is cut, changed, foreign, of a newer version, or says what cannot be.
        ModelMismatch: its vectors come from another model than those of the database, and there is no ``embedder``.
        InvalidInput: a source, a collection name or metadata break the rules.
        Conflict: a document was stored by others at the same moment; try again.
    """
    verify = partial(watch, "verify")
    archive = await asyncio.to_thread(open_archive, path, COLLECTION, COLLECTION_VERSION, verify)
    facts = _facts(archive)
    async with parts.engine.connect() as connection:
        active = (await active_space(connection)).model
    if parts.embedder is None and facts.model != active:
        raise ModelMismatch(
            f"the vectors in the archive come from {facts.model.provider} {facts.model.name} "
            f"({facts.model.dimension} dimensions), those of the database from {active.provider} {active.name} "
            f"({active.dimension}); nothing was changed. Add --embed to embed the chunks anew, or bring one side to "
            f"the model of the other by `fuzi reembed`",
            archive=asdict(facts.model),
            database=asdict(active),
        )
    await asyncio.to_thread(_check_all, parts, archive, facts)
    async with parts.engine.begin() as connection:
        name = collection or facts.collection
        collection_id = await ensure_collection(connection, name)
        await adopt_settings(connection, collection_id, facts.settings)
        heading_context = await own_heading_context(connection, collection_id)
    if heading_context is not None:
        parts = replace(parts, heading_context=heading_context)
    work = _Import(parts, archive, facts.model if parts.embedder is None else parts.embedder.model, collection_id)
    async with _index_afterwards(parts, watch):
        with CollectionReader(archive, facts.model.dimension) as reader:
            versions, done = reader.versions(), 0
            while (version := await asyncio.to_thread(next, versions, None)) is not None:
                await work.one(version)
                done += 1
                watch("storing", done, facts.document_count)
    log.info("imported", collection=name, path=str(path), **work.outcomes)
    return ImportReport(name, dict(work.outcomes), work.child_count, work.embedded_count, work.reused_count)


@asynccontextmanager
async def _index_afterwards(parts: ImportParts, watch: Watch) -> AsyncIterator[None]:
    """Set the index of the vectors aside while they come in, where that is faster; built it is in any case."""
    if parts.embedder is not None:  # which takes longer than any index
        yield
        return
    async with alone(parts.engine) as is_free:
        is_deferred = is_free and await defer_index(parts.engine)
        yield
        if is_deferred:
            watch("indexes", 0, None)
            await build_deferred(parts.engine)


@dataclass(frozen=True, slots=True)
class _Facts:
    collection: str
    settings: dict[str, Any]
    model: EmbeddingModel
    document_count: int


def _facts(archive: Archive) -> _Facts:
    try:
        manifest = archive.manifest
        model = EmbeddingModel(**manifest["embedding_model"])
        collection, count = manifest["collection"], int(manifest["counts"]["documents"])
        facts = _Facts(str(collection["name"]), dict(collection["settings"]), model, count)
        possible = 1 <= model.dimension <= 4000 and manifest["vectors"]["type"] == "float32"
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArchive("the manifest of the archive lacks what an import has to know") from error
    if not possible:
        raise InvalidArchive("the vectors of the archive are of a kind that this version does not know")
    try:
        CollectionSettings.model_validate(facts.settings)
    except ValidationError as error:
        raise InvalidArchive(
            f"the collection in the archive has settings that this version does not know: {first_problem(error)}"
        ) from error
    return facts


def _check_all(parts: ImportParts, archive: Archive, facts: _Facts) -> None:
    """Look at every document before the first one is stored."""
    sources = set[str]()
    with CollectionReader(archive, facts.model.dimension) as reader:
        for version in reader.versions():
            document, name = version.document, f"{ORIGINALS}/{version.document.document_id}"
            source = normalise_source(document.source)
            clean_metadata(document.metadata, parts.limits)
            if source in sources:
                raise InvalidArchive(f"the archive has two documents with the source {source}")
            sources.add(source)
            if name in archive.members and archive.member(name).sha256 != document.sha256:
                raise InvalidArchive(f"the original of {source} in the archive is not the one that was uploaded")
    if len(sources) != facts.document_count:
        raise InvalidArchive("the archive has not as many documents as its manifest says")


@dataclass(slots=True)
class _Import:
    parts: ImportParts
    archive: Archive
    model: EmbeddingModel
    collection_id: int
    outcomes: Counter[str] = field(default_factory=Counter)
    child_count: int = 0
    embedded_count: int = 0
    reused_count: int = 0

    async def one(self, version: PortableVersion) -> None:
        """Take one document in."""
        if self.parts.embedder is not None:
            version = version.embedded_anew(heading_context=self.parts.heading_context)
        document = version.document
        source = normalise_source(document.source)
        async with self.parts.engine.connect() as connection:
            unchanged = await is_stored(connection, self.collection_id, source, version)
        if unchanged:
            self.outcomes[IngestOutcome.UNCHANGED] += 1
            return
        metadata = clean_metadata(document.metadata, self.parts.limits)
        vectors = version.vectors if self.parts.embedder is None else await self._embed(self.parts.embedder, version)
        key = await self._keep_original(version)
        arrival = Arrival(self.collection_id, source, metadata, version, vectors, key)
        committing = False
        try:
            async with writing(self.parts.engine) as connection:
                replaced = await self._store(connection, arrival)
                committing = True
        except BaseException:
            # A commit whose answer was lost may have been done, and needs the original. If not, the sweep finds it.
            if key is not None and not committing:
                await self.parts.originals.delete(key)
            raise
        self.outcomes[IngestOutcome.REPLACED if replaced else IngestOutcome.CREATED] += 1
        self.child_count += document.child_count

    async def _store(self, connection: AsyncConnection, arrival: Arrival) -> bool:
        await lock_source(connection, self.collection_id, arrival.source)
        space = await hold_for_writing(connection)
        if space.model != self.model:
            raise ModelMismatch(f"the database was changed to {space.title} meanwhile; start again")
        document_id, replaced, outdated = await store(connection, arrival)
        await end_all_cancelled(connection, document_id, "an import took the place of this upload")
        await note_removals(connection, outdated)
        await raise_revision(connection)
        return replaced

    async def _embed(self, embedder: CachedEmbedder, version: PortableVersion) -> VectorBatch:
        title = (version.document.title or "") if self.parts.heading_context else None
        texts = await asyncio.to_thread(passage_texts, version.document.extracted.text, version.chunks, title)
        embedded = await embedder.embed_and_count(texts)
        self.embedded_count += embedded.embedded_count
        self.reused_count += embedded.reused_count
        return embedded.vectors

    async def _keep_original(self, version: PortableVersion) -> str | None:
        """Store the original and return its key; None when the archive has none."""
        document, name = version.document, f"{ORIGINALS}/{version.document.document_id}"
        if name not in self.archive.members:
            return None
        with tempfile.TemporaryDirectory(prefix="fuzi-import-") as folder:
            path = Path(folder) / "original"
            await asyncio.to_thread(self._write_original, name, path)
            return await self.parts.originals.put(path, document.file_name)

    def _write_original(self, name: str, path: Path) -> None:
        with path.open("wb") as file:
            for piece in self.archive.pieces(name):
                file.write(piece)
