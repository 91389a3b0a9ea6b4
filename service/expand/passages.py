"""Expansion: the parents of the candidates, with the child chunks that brought them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Double, Select, any_, bindparam, cast, func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

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
    of_parents: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        of_parents.setdefault(candidate.parent_id, []).append(candidate)
    query = _PARENTS if embedding is None else _PARENTS_WITH_DISTANCES
    values = {"parent_ids": list(of_parents), "query": embedding}
    rows = {row.parent_id: dict(row._mapping) for row in await connection.execute(query, values)}
    passages = list[Passage]()
    for parent_id, brought in of_parents.items():
        row = rows.get(parent_id, {})
        children = {child_id: child for child_id, *child in row.pop("children", None) or ()}
        hits = [
            _hit(candidate, children[candidate.child_id]) for candidate in brought if candidate.child_id in children
        ]
        if hits:
            passage = Passage(
                **{**row, "heading_path": tuple(row["heading_path"])},
                rrf_score=hits[0].candidate.rrf_score,
                hits=tuple(hits),
                rank_before_rerank=len(passages) + 1,
                child_distances=tuple(sorted(distance for *_, distance in children.values() if distance is not None)),
            )
            passages.append(passage)
    return passages


def _hit(candidate: Candidate, child: Sequence[Any]) -> Hit:
    chunk_id, start, end, inner_path, _ = child
    return Hit(UUID(chunk_id), start, end, candidate, inner_path=tuple(inner_path))


def _parents(*, with_distances: bool) -> Select[*tuple[Any, ...]]:
    """The parents ``:parent_ids``, each with the list of its children and their cosine distances to ``:query``."""
    distance: ColumnElement[float | None] = cast(None, Double)
    if with_distances:
        # in the driver's own form of a vector, which PostgreSQL makes a halfvec where the column is one
        distance = ChildChunk.embedding.op("<=>", return_type=Double())(text(":query"))
    child = func.json_build_array(
        ChildChunk.id,
        ChildChunk.chunk_id,
        ChildChunk.start_offset,
        ChildChunk.end_offset,
        ChildChunk.inner_path,
        distance,
    )
    children = select(func.json_agg(child)).where(ChildChunk.parent_id == ParentChunk.id).scalar_subquery()
    return (
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
            children.label("children"),
        )
        .join(Document, Document.id == ParentChunk.document_id)
        .join(Collection, Collection.id == Document.collection_id)
        .where(ParentChunk.id == any_(bindparam("parent_ids", type_=ARRAY(BigInteger))))
    )


# made once: making and hashing them took longer than PostgreSQL took to answer
_PARENTS, _PARENTS_WITH_DISTANCES = _parents(with_distances=False), _parents(with_distances=True)
