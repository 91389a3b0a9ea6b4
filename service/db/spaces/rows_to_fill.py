"""Child chunks that lack their standby vector, and writing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgvector import Vector
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.engine import driver_connection
from service.types import VectorBatch

_PAGE = text("""
    select c.id, c.content, c.embedding_prefix, d.title, p.heading_path || c.inner_path, d.source,
        k.settings -> 'heading_context'
    from rag.child_chunk as c
    join rag.parent_chunk as p on p.id = c.parent_id
    join rag.document as d on d.id = c.document_id
    join rag.collection as k on k.id = c.collection_id
    where c.embedding_standby is null and c.id > :after
    order by c.id
    limit :limit
""")
_COUNTS = text("""
    select
        (select count(*) from rag.child_chunk) as row_count,
        (select count(*) from rag.child_chunk where embedding_standby is null) as missing_count
""")
_LACKS = text("select exists (select from rag.child_chunk where embedding_standby is null)")
# One statement for all rows, since each makes a segment of the BM25 index. A row that a new version of its document is
# just replacing is passed over, so that neither waits for the other in a circle.
_WRITE = """
    with free as materialized (
        select c.id
        from rag.child_chunk as c
        where c.id = any (%(ids)s::bigint[]) and c.embedding_standby is null
        order by c.id
        for no key update skip locked
    )
    update rag.child_chunk as c
    set embedding_standby = v.embedding
    from free
    join unnest(%(ids)s::bigint[], %(vectors)b) as v (id, embedding) on v.id = free.id
    where c.id = free.id
"""
_COPY = text("""
    with free as materialized (
        select c.id
        from rag.child_chunk as c
        where c.embedding_standby is null and c.id > :after
        order by c.id
        limit :limit
        for no key update skip locked
    ),
    written as (
        update rag.child_chunk as c
        set embedding_standby = c.embedding
        from free
        where c.id = free.id
        returning c.id
    )
    select count(*), max(id) from written
""")


@dataclass(frozen=True, slots=True)
class ChunkToFill:
    """A child chunk with all that its embedded text is made of, and the source of its document.

    ``own_heading_context`` is that of the collection, None when it has none of its own.
    """

    id: int
    content: str
    embedding_prefix: str
    title: str | None
    heading_path: Sequence[str]
    source: str
    own_heading_context: bool | None


async def missing_after(connection: AsyncConnection, after: int, limit: int) -> list[ChunkToFill]:
    """The next chunks without standby vector, by id."""
    rows = await connection.execute(_PAGE, {"after": after, "limit": limit})
    return [ChunkToFill(*row) for row in rows]


async def count_chunks(connection: AsyncConnection) -> tuple[int, int]:
    """Child chunks, and those of them without standby vector."""
    row = (await connection.execute(_COUNTS)).one()
    return row.row_count, row.missing_count


async def lacks_any(connection: AsyncConnection) -> bool:
    """Whether any chunk is without standby vector; answered by the partial index, in a moment."""
    await connection.execute(text("set local enable_seqscan = off"))
    return bool(await connection.scalar(_LACKS))


async def write_standby(connection: AsyncConnection, ids: Sequence[int], vectors: VectorBatch) -> int:
    """Store vectors ``[id_count, dimension]`` of the chunks with these ids; return how many rows took theirs."""
    driver = await driver_connection(connection)
    # in binary, since a vector as text costs a hundred times as much; where the column is halfvec, PostgreSQL casts
    values = {"ids": list(ids), "vectors": [Vector(vector) for vector in vectors]}
    return (await driver.execute(_WRITE, values)).rowcount


async def copy_to_standby(connection: AsyncConnection, after: int, limit: int) -> tuple[int, int | None]:
    """Give the next chunks, by id, the vectors in use in the type of the standby column; how many, and the last id."""
    written, last = (await connection.execute(_COPY, {"after": after, "limit": limit})).one()
    return written, last
