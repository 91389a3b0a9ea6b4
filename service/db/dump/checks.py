"""Is a restored database what the backup said?"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.bm25 import trust_counted
from service.db.dump.snapshot import count
from service.errors import FuziError
from service.types import JsonObject

_SAMPLE = 200
"""Chunks of each kind whose place in the text is looked at; the whole dump was proven by its digest."""

# Ids of chunks are digests: their order is as good as chance, and an index gives it.
_PROVENANCE = """
    select count(*)
    from (
        select document_id, content, start_offset, end_offset from rag.{table} order by chunk_id limit :sample
    ) as c
    join rag.document as d on d.id = c.document_id
    where substr(d.text, c.start_offset + 1, c.end_offset - c.start_offset) is distinct from c.content
"""
_ANALYZE = "analyze rag.collection, rag.document, rag.parent_chunk, rag.child_chunk, rag.embedding_cache, rag.job"
# exact right after the build of an index; float4, so compared as such
_VECTORS = text("""
    select x.indisvalid and x.indisready and i.reltuples = (select count(*) from rag.child_chunk)::float4
    from pg_index as x
    join pg_class as i on i.oid = x.indexrelid
    where i.oid = to_regclass('rag.child_chunk_embedding_hnsw')
""")


async def check_vector_index(connection: AsyncConnection) -> None:
    """See that every child chunk is in the index of vectors. Only right after it was built.

    Raises:
        FuziError: it is not.
    """
    if not await connection.scalar(_VECTORS):
        raise FuziError("the index of vectors was not restored completely")


async def check_restored(connection: AsyncConnection, facts: JsonObject) -> None:
    """Compare with the manifest: counts, places of chunks in their texts, words; then the BM25 indexes are trusted.

    Args:
        connection: autocommit, opened before the indexes were built (`service.db.bm25.trust_counted`).

    Raises:
        FuziError: something is missing or wrong; the message says what.
    """
    found, expected = await count(connection), dict(facts["counts"])
    if found != expected:
        raise FuziError(f"the restored database counts {found}, the backup {expected}")
    for table in ("parent_chunk", "child_chunk"):
        wrong = await connection.scalar(text(_PROVENANCE.format(table=table)), {"sample": _SAMPLE})
        if wrong:
            raise FuziError(f"{wrong} rows of rag.{table} are not what their documents say at that place")
    incomplete = await trust_counted(connection)
    if incomplete:
        raise FuziError(f"indexes were not restored completely: {', '.join(incomplete)}")
    await connection.execute(text(_ANALYZE))
