"""Expansion: the parents of the candidates, with the child chunks that brought them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.types import Candidate, Hit, Passage


async def expand(connection: AsyncConnection, candidates: Sequence[Candidate]) -> list[Passage]:
    """Return one passage per parent, in the order in which the candidates name them first.

    A candidate whose chunk was replaced since it was retrieved is left out, never guessed.
    """
    if not candidates:
        return []
    parents = {
        row.parent_id: row
        for row in await connection.execute(
            select(
                ParentChunk.id.label("parent_id"),
                ParentChunk.chunk_id,
                ParentChunk.document_id,
                ParentChunk.content,
                ParentChunk.start_offset.label("start"),
                ParentChunk.end_offset.label("end"),
                ParentChunk.heading_path,
                ParentChunk.first_page,
                ParentChunk.last_page,
                Collection.name.label("collection"),
                Document.source,
                Document.title,
                Document.media_type,
                Document.metadata_.label("metadata"),
            )
            .join(Document, Document.id == ParentChunk.document_id)
            .join(Collection, Collection.id == Document.collection_id)
            .where(ParentChunk.id.in_({candidate.parent_id for candidate in candidates}))
        )
    }
    children = {
        row.id: row
        for row in await connection.execute(
            select(ChildChunk.id, ChildChunk.chunk_id, ChildChunk.start_offset, ChildChunk.end_offset).where(
                ChildChunk.id.in_({candidate.child_id for candidate in candidates})
            )
        )
    }
    hits: dict[int, list[Hit]] = {}
    for candidate in candidates:
        child = children.get(candidate.child_id)
        if child is not None and candidate.parent_id in parents:
            hit = Hit(child.chunk_id, child.start_offset, child.end_offset, candidate)
            hits.setdefault(candidate.parent_id, []).append(hit)
    return [
        Passage(
            **{**parents[parent_id]._mapping, "heading_path": tuple(parents[parent_id].heading_path)},
            rrf_score=found[0].candidate.rrf_score,
            hits=tuple(found),
            rank_before_rerank=rank,
        )
        for rank, (parent_id, found) in enumerate(hits.items(), start=1)
    ]
