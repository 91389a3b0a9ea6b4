"""Expansion: the parents of the candidates, with the child chunks that brought them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.engine import driver_connection
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
    rows = await _rows(connection, candidates, list(of_parents), embedding)
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


async def _rows(
    connection: AsyncConnection, candidates: Sequence[Candidate], parent_ids: list[int], embedding: Vector | None
) -> dict[int, dict[str, Any]]:
    """Fields of the passages by the parents' ids; their children are those named, or all when distances are told."""
    values = {"parent_ids": parent_ids, "child_ids": [candidate.child_id for candidate in candidates]}
    async with (await driver_connection(connection)).cursor(row_factory=dict_row) as cursor:
        if embedding is None:
            await cursor.execute(_WITH_HITS, values)
        else:
            await cursor.execute(_WITH_DISTANCES, {"parent_ids": parent_ids, "query": embedding})
        return {row["parent_id"]: row for row in await cursor.fetchall()}


def _hit(candidate: Candidate, child: Sequence[Any]) -> Hit:
    chunk_id, start, end, inner_path, first_page, last_page, _ = child
    return Hit(
        UUID(chunk_id),
        start,
        end,
        candidate,
        inner_path=tuple(inner_path),
        first_page=first_page,
        last_page=last_page,
    )


_PARENTS: LiteralString = """
    select
        p.id as parent_id,
        p.chunk_id,
        p.document_id,
        p.content,
        p.start_offset as start,
        p.end_offset as end,
        p.heading_path,
        p.first_page,
        p.last_page,
        c.name as collection,
        d.source,
        d.title,
        d.media_type,
        d.metadata,
        (
            select json_agg(
                json_build_array(
                    k.id, k.chunk_id, k.start_offset, k.end_offset, k.inner_path, k.first_page, k.last_page, {distance}
                )
            )
            from rag.child_chunk as k
            where {children}
        ) as children
    from rag.parent_chunk as p
    join rag.document as d on d.id = p.document_id
    join rag.collection as c on c.id = d.collection_id
    where p.id = any (%(parent_ids)s::bigint[])
"""
_WITH_HITS = _PARENTS.format(distance="null", children="k.id = any (%(child_ids)s::bigint[]) and k.parent_id = p.id")
# the parameter has the driver's own form of a vector, which PostgreSQL makes a halfvec where the column is one
_WITH_DISTANCES = _PARENTS.format(distance="k.embedding <=> %(query)s", children="k.parent_id = p.id")
