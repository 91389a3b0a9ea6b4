"""Read a document's extracted text and its chunks. Several reads agree with one another only in one snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Executable, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Document, ParentChunk
from service.errors import DocumentNotFound, NotFound
from service.types import JsonObject


@dataclass(frozen=True, slots=True)
class StoredText:
    """The served version of a document's text; all offsets refer to ``text``."""

    document_id: UUID
    title: str | None
    media_type: str
    format: str
    text: str
    blocks: Sequence[JsonObject]
    pages: Sequence[JsonObject]
    metadata: JsonObject
    extracted_metadata: JsonObject
    warnings: Sequence[JsonObject]
    extractor: str
    extractor_version: str


@dataclass(frozen=True, slots=True)
class StoredParent:
    """A parent chunk as stored."""

    chunk_id: UUID
    ordinal: int
    start: int
    end: int
    content: str
    heading_path: Sequence[str]
    first_page: int | None
    last_page: int | None
    token_estimate: int


@dataclass(frozen=True, slots=True)
class StoredChild:
    """A child chunk as stored, with its parent's public id and ordinal."""

    chunk_id: UUID
    ordinal: int
    parent_chunk_id: UUID
    parent_ordinal: int
    start: int
    end: int
    content: str
    first_page: int | None
    last_page: int | None


async def read_text(connection: AsyncConnection, document_id: UUID) -> StoredText:
    """Return the text of the served version.

    Raises:
        DocumentNotFound: there is no such document.
        NotFound: it has no text, because it failed or is still on its way; ``details`` has the status.
    """
    row = (
        await connection.execute(
            select(
                Document.id.label("document_id"),
                Document.title,
                Document.media_type,
                Document.text_format.label("format"),
                Document.text,
                Document.blocks,
                Document.pages,
                Document.metadata_.label("metadata"),
                Document.extracted_metadata,
                Document.warnings,
                Document.extractor,
                Document.extractor_version,
                Document.status,
            ).where(Document.id == document_id)
        )
    ).one_or_none()
    if row is None:
        raise DocumentNotFound(f"there is no document {document_id}", document_id=str(document_id))
    values = dict(row._mapping)
    status = values.pop("status")
    if row.text is None:
        raise NotFound(
            f"the document has no text: its status is {status}", document_id=str(document_id), status=str(status)
        )
    return StoredText(**values)


_PARENT = select(
    ParentChunk.chunk_id,
    ParentChunk.ordinal,
    ParentChunk.start_offset.label("start"),
    ParentChunk.end_offset.label("end"),
    ParentChunk.content,
    ParentChunk.heading_path,
    ParentChunk.first_page,
    ParentChunk.last_page,
    ParentChunk.token_estimate,
)
_CHILD = select(
    ChildChunk.chunk_id,
    ChildChunk.ordinal,
    ParentChunk.chunk_id.label("parent_chunk_id"),
    ParentChunk.ordinal.label("parent_ordinal"),
    ChildChunk.start_offset.label("start"),
    ChildChunk.end_offset.label("end"),
    ChildChunk.content,
    ChildChunk.first_page,
    ChildChunk.last_page,
).join(ParentChunk, ParentChunk.id == ChildChunk.parent_id)


async def read_parents(connection: AsyncConnection, document_id: UUID) -> list[StoredParent]:
    """Return the parent chunks by ordinal; none when the document has no served version."""
    return await _parents(
        connection, _PARENT.where(ParentChunk.document_id == document_id).order_by(ParentChunk.ordinal)
    )


async def read_children(connection: AsyncConnection, document_id: UUID) -> list[StoredChild]:
    """Return the child chunks by ordinal; none when the document has no served version."""
    return await _children(connection, _CHILD.where(ChildChunk.document_id == document_id).order_by(ChildChunk.ordinal))


async def _parents(connection: AsyncConnection, query: Executable) -> list[StoredParent]:
    return [StoredParent(**row._mapping) for row in await connection.execute(query)]


async def _children(connection: AsyncConnection, query: Executable) -> list[StoredChild]:
    return [StoredChild(**row._mapping) for row in await connection.execute(query)]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Parents of a document that follow one another, with their children and the text that they lie in.

    The parent before them ends at ``reached``. ``text`` is the document's from ``start``, there or where the first of
    them starts if that is before, to the end of the last of them, or of the document where none follows.
    ``parent_count`` and ``text_length`` are those of the whole document.
    """

    parents: Sequence[StoredParent]
    children: Sequence[StoredChild]
    text: str
    start: int
    reached: int
    parent_count: int
    text_length: int

    @property
    def next_ordinal(self) -> int | None:
        """Ordinal of the parent that follows; None at the end."""
        after = self.parents[-1].ordinal + 1 if self.parents else self.parent_count
        return after if after < self.parent_count else None

    @property
    def after(self) -> str:
        """Text behind the last parent; only the end of a document has any."""
        return self.text[max(parent.end for parent in self.parents) - self.start :] if self.parents else ""


async def read_stretch(
    connection: AsyncConnection, document_id: UUID, *, first: int, characters: int, most: int = 60
) -> Stretch:
    """Return the parents from the ordinal ``first`` on that have so many characters together, at least one.

    The text of a document may have millions of characters: only this part of it is sent by the database.
    """
    mine = ParentChunk.document_id == document_id
    length = await connection.scalar(select(func.length(Document.text)).where(Document.id == document_id))
    count = await connection.scalar(select(func.count()).select_from(ParentChunk).where(mine))
    query = _PARENT.where(mine, ParentChunk.ordinal >= first).order_by(ParentChunk.ordinal).limit(most)
    parents, together = list[StoredParent](), 0
    for parent in await _parents(connection, query):
        together += parent.end - parent.start
        if parents and together > characters:
            break
        parents.append(parent)
    if not parents:
        return Stretch([], [], "", 0, 0, count or 0, length or 0)
    last = parents[-1].ordinal
    before = select(func.max(ParentChunk.end_offset)).where(mine, ParentChunk.ordinal < parents[0].ordinal)
    reached = await connection.scalar(before) or 0
    start = min(reached, parents[0].start)
    end = (length or 0) if last + 1 >= (count or 0) else max(parent.end for parent in parents)
    text = await connection.scalar(
        select(func.substr(Document.text, start + 1, end - start)).where(Document.id == document_id)
    )
    children = await _children(
        connection,
        _CHILD.where(mine, ParentChunk.ordinal.between(parents[0].ordinal, last)).order_by(ChildChunk.ordinal),
    )
    return Stretch(parents, children, text or "", start, reached, count or 0, length or 0)


async def parent_of_page(connection: AsyncConnection, document_id: UUID, page: int) -> int:
    """Return the ordinal of the first parent that reaches a page; beyond the pages, that of the last one."""
    mine = ParentChunk.document_id == document_id
    reaches = func.coalesce(ParentChunk.last_page, ParentChunk.first_page) >= page
    found = await connection.scalar(select(func.min(ParentChunk.ordinal)).where(mine, reaches))
    if found is None:
        found = await connection.scalar(select(func.max(ParentChunk.ordinal)).where(mine))
    return found or 0


async def chunk_at(connection: AsyncConnection, document_id: UUID, offset: int) -> UUID | None:
    """Return the child chunk at an offset of the text, or the next one; of several the one that starts last."""
    query = (
        select(ChildChunk.chunk_id)
        .where(ChildChunk.document_id == document_id, ChildChunk.end_offset > offset)
        .order_by(
            ChildChunk.start_offset > offset,
            case((ChildChunk.start_offset <= offset, -ChildChunk.ordinal), else_=ChildChunk.ordinal),
        )
        .limit(1)
    )
    found: UUID | None = await connection.scalar(query)
    return found


@dataclass(frozen=True, slots=True)
class Around:
    """A child chunk with its parent and its neighbours in the document; None where there is none."""

    child: StoredChild
    parent: StoredParent
    before: StoredChild | None
    after: StoredChild | None


async def read_around(connection: AsyncConnection, document_id: UUID, chunk_id: UUID) -> Around:
    """Return a child chunk of this document with what lies around it.

    Raises:
        NotFound: the document has no such child chunk; a newer version of it has others.
    """
    mine = ChildChunk.document_id == document_id
    found = await _children(connection, _CHILD.where(mine, ChildChunk.chunk_id == chunk_id))
    if not found:
        raise NotFound("this document has no such chunk (any more); a newer version of it has others")
    child = found[0]
    parents = await _parents(connection, _PARENT.where(ParentChunk.chunk_id == child.parent_chunk_id))
    beside = _CHILD.where(mine, ChildChunk.ordinal.in_([child.ordinal - 1, child.ordinal + 1]))
    near = {each.ordinal: each for each in await _children(connection, beside)}
    return Around(child, parents[0], near.get(child.ordinal - 1), near.get(child.ordinal + 1))
