"""Feedback as evaluations need it: what was asked, and which passages answered it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, literal_column, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.db.search_models import Feedback, SearchLog


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    """A passage that was judged for a query, with the verdicts of all who asked the same.

    ``pieces`` are its child chunks as they are cut now, or the whole passage when it was replaced since: whatever
    holds one of them answers as well. ``is_stored`` says that its document still is.
    """

    query: str
    collection: str
    source: str
    pieces: tuple[str, ...]
    good: int
    bad: int
    is_stored: bool


async def judged_passages(
    connection: AsyncConnection, collection: str | None = None
) -> tuple[list[JudgedPassage], int]:
    """Return what was judged, by query and source, and how many verdicts are of no use: their query is not known."""
    # no bound parameter: grouping has to see the same expression
    asked = func.btrim(func.coalesce(SearchLog.query, Feedback.query, literal_column("''")))
    pieces = (
        select(func.array_agg(aggregate_order_by(ChildChunk.content, ChildChunk.ordinal)))
        .join(ParentChunk, ParentChunk.id == ChildChunk.parent_id)
        .where(ParentChunk.chunk_id == Feedback.chunk_id)
        .scalar_subquery()
    )
    good = func.count().filter(Feedback.verdict == "good")
    statement = (
        select(
            asked.label("query"),
            Collection.name,
            Feedback.source,
            Feedback.content,
            func.min(pieces),
            good,
            func.count() - good,
            func.bool_or(Document.text.is_not(None)),
        )
        .outerjoin(SearchLog, SearchLog.search_id == Feedback.search_id)
        .join(Collection, Collection.id == Feedback.collection_id)
        .outerjoin(Document, (Document.collection_id == Feedback.collection_id) & (Document.source == Feedback.source))
        .group_by(asked, Collection.name, Feedback.source, Feedback.content)
        .order_by(asked, Collection.name, Feedback.source, Feedback.content)
    )
    if collection is not None:
        statement = statement.where(Collection.name == collection)
    passages, unknown = list[JudgedPassage](), 0
    for query, name, source, content, cut, liked, disliked, is_stored in await connection.execute(statement):
        if not query:
            unknown += liked + disliked
            continue
        own = tuple(dict.fromkeys(cut or [content]))
        passages.append(JudgedPassage(query, name, source, own, liked, disliked, bool(is_stored)))
    return passages, unknown
