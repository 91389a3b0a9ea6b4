"""A data set becomes a collection, through the flows that uploads go through."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.errors import FuziError, error_of
from service.evaluate.read.records import DataSet, SetDocument
from service.evaluate.run.database import empty
from service.flows.jobs import result_of
from service.flows.receive import Accepted, receive
from service.queue.jobs import JobRecord
from service.types import IngestRequest
from service.wiring import Services
from service.worker import working

_SUFFIXES = {"text/markdown": "md", "text/html": "html"}


@dataclass(slots=True)
class TakeInProgress:
    """How far the documents are: characters of finished ones and of the part done of the present one."""

    total_characters: int
    total_documents: int
    done_characters: float = 0
    done_documents: int = 0
    done_chunks: int = 0


type TakeInWatch = Callable[[TakeInProgress], None]


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """What a collection holds."""

    documents: int
    parents: int
    children: int
    characters: int


async def take_in(services: Services, data_set: DataSet, collection: str, watch: TakeInWatch) -> CorpusCounts:
    """Make ``collection`` hold the data set and the database nothing else; documents that are there cost nothing.

    Interrupted, it goes on where it was. Document ids become sources.

    Raises:
        FuziError: a document could not be taken in; the message names it.
    """
    if await _collections(services.engine) - {collection}:
        await empty(services.engine)
    progress = TakeInProgress(sum(len(document.text) for document in data_set.documents), len(data_set.documents))
    with tempfile.TemporaryDirectory(prefix="fuzi-evaluate-") as folder:
        waiting: list[tuple[SetDocument, Accepted | None]] = []
        for document in data_set.documents:
            received = await receive(services.for_receive, _upload(document, collection, Path(folder)))
            waiting.append((document, received if isinstance(received, Accepted) else None))
        if any(accepted for _, accepted in waiting):
            async with working(services):
                for document, accepted in waiting:
                    await _wait_for(services.engine, document, accepted, progress, watch)
    return await corpus_counts(services.engine, [collection])


async def corpus_counts(engine: AsyncEngine, collections: list[str] | None) -> CorpusCounts:
    """Count what is in collections; None is all of them."""
    ids = select(Document.id).join(Collection, Collection.id == Document.collection_id)
    if collections is not None:
        ids = ids.where(Collection.name.in_(collections))
    async with engine.connect() as connection:
        counts = [
            await connection.scalar(select(func.count()).where(kind.document_id.in_(ids))) or 0
            for kind in (ParentChunk, ChildChunk)
        ]
        facts = select(func.count(), func.coalesce(func.sum(func.length(Document.text)), 0)).where(Document.id.in_(ids))
        documents, characters = (await connection.execute(facts.where(Document.text.is_not(None)))).one()
    return CorpusCounts(documents, counts[0], counts[1], characters)


async def _collections(engine: AsyncEngine) -> set[str]:
    async with engine.connect() as connection:
        return set(await connection.scalars(select(Collection.name)))


def _upload(document: SetDocument, collection: str, folder: Path) -> IngestRequest:
    path = folder / "document"  # received means copied: the next one may take its place
    path.write_bytes(document.text.encode("utf-8", "surrogatepass"))
    return IngestRequest(
        path=path,
        source=document.id,
        file_name=f"document.{_SUFFIXES.get(document.media_type, 'txt')}",
        collection=collection,
        declared_type=document.media_type,
        title=document.title or None,
    )


async def _wait_for(
    engine: AsyncEngine, document: SetDocument, accepted: Accepted | None, progress: TakeInProgress, watch: TakeInWatch
) -> None:
    characters, chunks = progress.done_characters, progress.done_chunks

    def look(job: JobRecord) -> None:
        if job.child_count:
            progress.done_characters = characters + len(document.text) * min(1, job.done_count / job.child_count)
            progress.done_chunks = chunks + job.done_count
        watch(progress)

    if accepted is not None:
        try:
            result = await result_of(engine, accepted, look)
        except FuziError as error:
            raise error_of(
                error.code, f"the document {document.id} cannot be taken in: {error.message}", document=document.id
            ) from error
        progress.done_chunks = chunks + result.child_count
    progress.done_characters = characters + len(document.text)
    progress.done_documents += 1
    watch(progress)
