"""Both legs and their fusion, in one SQL statement (`rag.hybrid_search`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.engine import driver_connection
from service.retrieve.own_settings import Resolved
from service.retrieve.scope import Scope
from service.retrieve.surroundings import MOST_COUNTED, Surroundings
from service.types import Candidate, Completeness, Vector

_HYBRID: LiteralString = """
    select child_id, parent_id, vector_rank, vector_distance, fts_rank, fts_score, rrf_score
    from rag.hybrid_search(
        query_text => %(query_text)s, query_embedding => %(query_embedding)s,
        top_n => %(top_n)s, candidates => %(candidates)s,
        vector_weight => %(vector_weight)s, fts_weight => %(fts_weight)s, rrf_k => %(rrf_k)s,
        collection_ids => %(collection_ids)s::bigint[], document_ids => %(document_ids)s::uuid[],
        min_vector_similarity => %(min_vector_similarity)s, fts_terms => %(fts_terms)s,
        eligible_chunks => %(eligible_chunks)s)
    order by parent_rank, rrf_score desc, child_id
"""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The candidates of all parents that a leg brought, best parent first, and how complete they are."""

    candidates: list[Candidate]
    completeness: Completeness
    corpus_revision: int

    def of_parents(self, most: int) -> list[Candidate]:
        """The candidates of the ``most`` best parents."""
        parents = dict.fromkeys(candidate.parent_id for candidate in self.candidates)
        wanted = set(list(parents)[:most])
        return [candidate for candidate in self.candidates if candidate.parent_id in wanted]


async def retrieve(
    connection: AsyncConnection,
    asked: Resolved,
    embedding: Vector | None,
    scope: Scope,
    around: Surroundings,
    *,
    fts_weight: float,
) -> Retrieved:
    """Return what both legs bring, fused. An ``embedding`` of None leaves the vector leg out.

    ``scope`` and ``around`` are of the transaction that the connection is in.

    Parents come in order of their best child's ``rrf_score``, then id; within a parent the children in order of
    ``rrf_score``, then id.
    """
    request = asked.request
    vector_weight = request.vector_weight if embedding is not None else 0
    candidates = list[Candidate]()
    if not scope.is_empty:
        cursor = await (await driver_connection(connection)).execute(
            _HYBRID,
            {
                "query_text": asked.fts_query_text,
                "query_embedding": embedding,
                "top_n": 2 * request.candidates,  # all there can be
                "candidates": request.candidates,
                "vector_weight": vector_weight,
                "fts_weight": fts_weight,
                "rrf_k": request.rrf_k,
                "collection_ids": scope.collection_ids,
                "document_ids": scope.document_ids,
                "min_vector_similarity": request.min_vector_similarity,
                "fts_terms": request.fts_terms,
                "eligible_chunks": scope.eligible_chunks,
            },
        )
        candidates = [Candidate(*row) for row in await cursor.fetchall()]
    vector_returned = sum(candidate.vector_rank is not None for candidate in candidates) if vector_weight > 0 else None
    fts_returned = sum(candidate.fts_rank is not None for candidate in candidates) if fts_weight > 0 else None
    # rag.vector_candidates compares one by one what a restriction leaves up to here
    few = scope.eligible_chunks is not None and scope.eligible_chunks <= MOST_COUNTED
    vector_exact = vector_returned is not None and few
    completeness = Completeness(scope.eligible_chunks, vector_returned, fts_returned, vector_exact)
    return Retrieved(candidates, completeness, around.corpus_revision)
