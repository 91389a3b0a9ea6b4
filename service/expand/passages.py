"""Expansion: the parents of the candidates, with the child chunks that brought them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Double, Select, bindparam, cast, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import NullType

from service.db.models import ChildChunk, Collection, Document, ParentChunk
from service.types import Candidate, Hit, Passage, Vector


async def expand(
    connection: AsyncConnection, candidates: Sequence[Candidate], embedding: Vector | None = None
) -> list[Passage]:
    """Return one passage per parent, in the order in which the candidates name them first.

    A candidate whose chunk was replaced since it was retrieved is left out, never guessed.

    Args:
        embedding: the query's vector, to which the distances of all children of each parent are told; None tells none.
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
    children = {row.id: row for row in await connection.execute(_children(list(parents), embedding))}
    hits: dict[int, list[Hit]] = {}
    for candidate in candidates:
        child = children.get(candidate.child_id)
        if child is not None and child.parent_id == candidate.parent_id:
            inner_path = tuple(child.inner_path)
            hit = Hit(child.chunk_id, child.start_offset, child.end_offset, candidate, inner_path=inner_path)
            hits.setdefault(candidate.parent_id, []).append(hit)
    distances: dict[int, list[float]] = {}
    if embedding is not None:
        for child in children.values():
            distances.setdefault(child.parent_id, []).append(child.distance)
    return [
        Passage(
            **{**parents[parent_id]._mapping, "heading_path": tuple(parents[parent_id].heading_path)},
            rrf_score=found[0].candidate.rrf_score,
            hits=tuple(found),
            rank_before_rerank=rank,
            child_distances=tuple(sorted(distances.get(parent_id, ()))),
        )
        for rank, (parent_id, found) in enumerate(hits.items(), start=1)
    ]


def _children(parent_ids: Sequence[int], embedding: Vector | None) -> Select[*tuple[Any, ...]]:
    """All children of some parents, each with its cosine distance to the query."""
    distance: ColumnElement[float | None] = cast(None, Double)
    if embedding is not None:
        # in the driver's own form of a vector, which PostgreSQL makes a halfvec where the column is one
        query = bindparam(None, embedding, type_=NullType(), unique=True)
        distance = ChildChunk.embedding.op("<=>", return_type=Double())(query)
    return select(
        ChildChunk.id,
        ChildChunk.parent_id,
        ChildChunk.chunk_id,
        ChildChunk.start_offset,
        ChildChunk.end_offset,
        ChildChunk.inner_path,
        distance.label("distance"),
    ).where(ChildChunk.parent_id.in_(parent_ids))
