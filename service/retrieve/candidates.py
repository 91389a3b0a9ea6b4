"""Both legs and their fusion, in one SQL statement (`rag.hybrid_search`)."""

from __future__ import annotations

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import BigInteger, Uuid

from service.retrieve.query_text import fts_query_text
from service.retrieve.scope import Scope
from service.types import Candidate, SearchRequest, Vector

_HYBRID = text(
    """
    select child_id, parent_id, vector_rank, vector_distance, fts_rank, fts_score, rrf_score
    from rag.hybrid_search(
        query_text => :query_text, query_embedding => :query_embedding, top_n => :top_n, candidates => :candidates,
        vector_weight => :vector_weight, fts_weight => :fts_weight, rrf_k => :rrf_k,
        collection_ids => :collection_ids, document_ids => :document_ids)
    order by parent_rank, rrf_score desc, child_id
    """
).bindparams(bindparam("collection_ids", type_=ARRAY(BigInteger)), bindparam("document_ids", type_=ARRAY(Uuid)))


async def retrieve(
    connection: AsyncConnection, request: SearchRequest, embedding: Vector | None, scope: Scope, *, fts_weight: float
) -> list[Candidate]:
    """Return the candidates of the best parents: ``top_n`` of them, or all when they go to a reranker.

    Parents come in order of their best child's ``rrf_score``, then id; within a parent the
    children in order of ``rrf_score``, then id. An ``embedding`` of None leaves the vector leg out.
    """
    if scope.is_empty:
        return []
    rows = await connection.execute(
        _HYBRID,
        {
            "query_text": fts_query_text(request.query),
            "query_embedding": embedding,
            "top_n": 2 * request.candidates if request.rerank else request.top_n,
            "candidates": request.candidates,
            "vector_weight": request.vector_weight if embedding is not None else 0,
            "fts_weight": fts_weight,
            "rrf_k": request.rrf_k,
            "collection_ids": scope.collection_ids,
            "document_ids": scope.document_ids,
        },
    )
    return [Candidate(**row._mapping) for row in rows]
