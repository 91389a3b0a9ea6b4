"""What a search may see: collections and filters resolved to ids that both legs push into their indexes."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Document
from service.errors import CollectionNotFound
from service.retrieve.filters import compile_filter
from service.retrieve.surroundings import MOST_COUNTED, Surroundings
from service.types import DocumentFilter, SearchRequest


@dataclass(frozen=True, slots=True)
class Scope:
    """Ids a search is restricted to; ``None`` means unrestricted, an empty list means nothing is eligible.

    ``eligible_chunks`` are the chunks that the restriction leaves: None without one; one more than `MOST_COUNTED`
    stands for any number above.
    """

    collection_ids: list[int] | None = None
    document_ids: list[UUID] | None = None
    eligible_chunks: int | None = None

    @property
    def is_empty(self) -> bool:
        """True when nothing can be found."""
        return self.collection_ids == [] or self.document_ids == []


async def resolve_scope(connection: AsyncConnection, request: SearchRequest, around: Surroundings) -> Scope:
    """Resolve a request's collections and filters; asks the database only when there is a filter.

    Raises:
        CollectionNotFound: a named collection does not exist, or may not be seen.
        InvalidFilter: the metadata filter does not follow the grammar.
    """
    collection_ids = None
    if request.collections is not None:
        missing = sorted(set(request.collections) - {collection.name for collection in around.collections})
        if missing:
            raise CollectionNotFound(f"there is no collection {missing[0]!r}", missing=missing)
    if request.searched is not None:
        collection_ids = [collection.id for collection in around.collections]
    if request.filters.is_empty:
        return Scope(collection_ids, None, around.chunks_in_collections)
    conditions = _conditions(request.filters)
    if collection_ids is not None:
        conditions.append(Document.collection_id.in_(collection_ids))
    eligible = select(Document.id).where(*conditions).cte("eligible")
    ids = func.array(select(eligible.c.id).scalar_subquery())
    counted = select(1).where(ChildChunk.document_id == func.any(ids)).limit(MOST_COUNTED + 1).subquery()
    both = select(
        select(func.array_agg(aggregate_order_by(eligible.c.id, eligible.c.id))).scalar_subquery(),
        select(func.count()).select_from(counted).scalar_subquery(),
    )
    document_ids, chunk_count = (await connection.execute(both)).one()
    # The ids say it all: with them the collections need no second check.
    return Scope(None, document_ids or [], chunk_count)


def _conditions(filters: DocumentFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.document_ids is not None:
        conditions.append(Document.id.in_(filters.document_ids))
    if filters.sources is not None:
        conditions.append(Document.source.in_(filters.sources))
    if filters.media_types is not None:
        conditions.append(Document.media_type.in_(filters.media_types))
    if filters.created_from is not None:
        conditions.append(Document.created_at >= filters.created_from)
    if filters.created_before is not None:
        conditions.append(Document.created_at < filters.created_before)
    if filters.updated_from is not None:
        conditions.append(Document.updated_at >= filters.updated_from)
    if filters.updated_before is not None:
        conditions.append(Document.updated_at < filters.updated_before)
    if filters.metadata is not None:
        conditions.append(compile_filter(filters.metadata, Document.metadata_))
    return conditions
