"""Read a passage with what stands around it in its document."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.errors import PassageNotFound


@dataclass(frozen=True, slots=True)
class PassageAround:
    """Parent chunks that follow one another in a document, and their text from the first's start to the last's end.

    ``ordinal`` is that of the parent chunk asked for, ``first_ordinal`` and ``last_ordinal`` are those that were read,
    of ``parent_count`` in the document.
    """

    chunk_id: UUID
    document_id: UUID
    collection: str
    source: str
    title: str | None
    media_type: str
    heading_path: Sequence[str]
    ordinal: int
    first_ordinal: int
    last_ordinal: int
    parent_count: int
    start: int
    end: int
    first_page: int | None
    last_page: int | None
    text: str


async def read_passage(
    connection: AsyncConnection, chunk_id: UUID, *, before: int, after: int, within: Names[str] | None
) -> PassageAround:
    """Return the parent chunk of this id, or of the child chunk of this id, with its neighbours, as one text.

    Only this part of the document's text is sent by the database. Parent chunks may overlap; the text repeats nothing.

    Args:
        before, after: parent chunks in front of it and behind it.
        within: collections that may be seen; None is all.

    Raises:
        PassageNotFound: there is no such chunk (any more), or it may not be seen.
    """
    of_child = select(ChildChunk.parent_id).where(ChildChunk.chunk_id == chunk_id).scalar_subquery()
    found = (
        await connection.execute(
            select(
                ParentChunk.chunk_id,
                ParentChunk.document_id,
                Collection.name.label("collection"),
                Document.source,
                Document.title,
                Document.media_type,
                ParentChunk.heading_path,
                ParentChunk.ordinal,
            )
            .join(Document, Document.id == ParentChunk.document_id)
            .join(Collection, Collection.id == Document.collection_id)
            .where((ParentChunk.chunk_id == chunk_id) | (ParentChunk.id == of_child))
        )
    ).one_or_none()
    if found is None or (within is not None and found.collection not in within):
        raise PassageNotFound(
            f"there is no passage {chunk_id} (any more): search again, a newer version of a document has others",
            chunk_id=str(chunk_id),
        )
    mine = ParentChunk.document_id == found.document_id
    near = (
        select(
            func.min(ParentChunk.ordinal).label("first_ordinal"),
            func.max(ParentChunk.ordinal).label("last_ordinal"),
            func.min(ParentChunk.start_offset).label("start"),
            func.max(ParentChunk.end_offset).label("end"),
            func.min(ParentChunk.first_page).label("first_page"),
            func.max(func.coalesce(ParentChunk.last_page, ParentChunk.first_page)).label("last_page"),
        )
        .where(mine, ParentChunk.ordinal.between(found.ordinal - before, found.ordinal + after))
        .subquery()
    )
    count = select(func.count()).where(mine).select_from(ParentChunk).scalar_subquery()
    text = func.substr(Document.text, near.c.start + 1, near.c.end - near.c.start)
    around = (
        await connection.execute(
            select(near, count.label("parent_count"), text.label("text"))
            .select_from(Document)
            .join(near, near.c.start.is_not(None))
            .where(Document.id == found.document_id)
        )
    ).one()
    return PassageAround(**found._mapping, **around._mapping)
