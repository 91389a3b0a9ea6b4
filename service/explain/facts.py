"""What PostgreSQL tells about a search: its words, its indexes, and how each leg looked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import BigInteger, Uuid

from service.types import FtsTerms, IndexFacts, Scan, Vector

log = structlog.get_logger()

_TERMS = text("select cast(cast(rag.fts_query(:query, :fts_terms) as text) as json)")
_INDEXES = text(
    """
    select c.relname as name, a.amname as method, i.indisvalid and i.indisready as valid
    from pg_catalog.pg_index as i
    join pg_catalog.pg_class as c on c.oid = i.indexrelid
    join pg_catalog.pg_am as a on a.oid = c.relam
    where i.indrelid = 'rag.child_chunk'::regclass and a.amname in ('bm25', 'hnsw')
    order by c.relname
    """
)
_KNOBS = text(
    "select current_setting('hnsw.ef_search', true) as ef_search,"
    " current_setting('hnsw.iterative_scan', true) as iterative_scan"
)
_EXPLAIN = "explain (analyze, timing off, costs off, format json) select child_id from "
_ARRAYS = (bindparam("collection_ids", type_=ARRAY(BigInteger)), bindparam("document_ids", type_=ARRAY(Uuid)))
_VECTOR_LEG = text(
    f"{_EXPLAIN} rag.vector_candidates(query_embedding => :query, candidates => :candidates,"
    " collection_ids => :collection_ids, document_ids => :document_ids, min_similarity => :min_similarity)"
).bindparams(*_ARRAYS)
_FTS_LEG = text(
    f"{_EXPLAIN} rag.fts_candidates(query_text => :query, candidates => :candidates,"
    " collection_ids => :collection_ids, document_ids => :document_ids, fts_terms => :fts_terms)"
).bindparams(*_ARRAYS)
_TABLE = "child_chunk"


@dataclass(frozen=True, slots=True)
class LegFacts:
    """Scans of the child chunks that ran, and the milliseconds of the leg."""

    scans: tuple[Scan, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Facts:
    """See `look`; a leg that was not asked, or that the database cannot run, is None."""

    query_words: tuple[str, ...]
    query_pairs: tuple[str, ...]
    indexes: tuple[IndexFacts, ...]
    ef_search: int | None
    iterative_scan: str | None
    vector_leg: LegFacts | None
    fts_leg: LegFacts | None


async def look(
    connection: AsyncConnection,
    *,
    fts_query_text: str | None,
    embedding: Vector | None,
    candidates: int,
    collection_ids: Sequence[int] | None,
    document_ids: Sequence[UUID] | None,
    min_vector_similarity: float | None,
    fts_terms: FtsTerms,
) -> Facts:
    """Run both legs once more, each under ``explain analyze``, and ask for what else is of interest.

    Args:
        fts_query_text: None leaves the fts leg out.
        embedding: None leaves the vector leg out.
    """
    scope = {"candidates": candidates, "collection_ids": collection_ids, "document_ids": document_ids}
    knobs = (await connection.execute(_KNOBS)).one()
    indexes = [IndexFacts(row.name, row.method, row.valid) for row in await connection.execute(_INDEXES)]
    asked = await _attempt(connection, _TERMS, {"query": fts_query_text, "fts_terms": fts_terms})
    terms = list(_terms(asked))
    return Facts(
        query_words=tuple(dict.fromkeys(term for field, term in terms if field == "content")),
        query_pairs=tuple(dict.fromkeys(term for field, term in terms if field == "characters")),
        indexes=tuple(indexes),
        ef_search=int(knobs.ef_search) if knobs.ef_search else None,
        iterative_scan=knobs.iterative_scan,
        vector_leg=await _leg(
            connection, _VECTOR_LEG, {"query": embedding, "min_similarity": min_vector_similarity, **scope}
        ),
        fts_leg=await _leg(connection, _FTS_LEG, {"query": fts_query_text, "fts_terms": fts_terms, **scope}),
    )


async def _leg(connection: AsyncConnection, statement: TextClause, values: dict[str, Any]) -> LegFacts | None:
    if values["query"] is None:
        return None
    plans = await _attempt(connection, statement, values)
    if plans is None:
        return None
    return LegFacts(tuple(_scans(plans[0]["Plan"])), plans[0]["Planning Time"] + plans[0]["Execution Time"])


async def _attempt(connection: AsyncConnection, statement: TextClause, values: dict[str, Any]) -> Any:
    """One value, or None when the statement fails: an explanation with a gap is better than no answer."""
    try:
        async with connection.begin_nested():
            return await connection.scalar(statement, values)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        log.warning("explanation_incomplete", message=str(error.orig))
        return None


def _scans(node: dict[str, Any]) -> Iterator[Scan]:
    """Scans of the child chunks that were run, outermost first."""
    index = node.get("Index Name") or node.get("Index")
    is_leaf = node.get("Relation Name") == _TABLE or (index is not None and "Plans" not in node)
    if is_leaf and node.get("Actual Loops", 0) > 0:
        name = node.get("Custom Plan Provider") or node["Node Type"]
        yield Scan(name, index, round(node["Actual Rows"] * node["Actual Loops"]))
    for inner in node.get("Plans", ()):
        yield from _scans(inner)


def _terms(query: Any) -> Iterator[tuple[str, str]]:
    """Fields and terms of a query of the BM25 index, in their order."""
    if isinstance(query, dict):
        term = query.get("term")
        if isinstance(term, dict):
            yield term["field"], term["value"]
        else:
            for inner in query.values():
                yield from _terms(inner)
    elif isinstance(query, list):
        for inner in query:
            yield from _terms(inner)
