"""What a search could see: the revision of the corpus, and how many chunks its restriction leaves."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import BigInteger, Uuid

from service.retrieve.scope import Scope

MOST_COUNTED = 10_000
"""Up to here eligible chunks are counted, and compared with the query one by one (`rag.vector_candidates`)."""

_REVISION = text("select revision as corpus_revision, null::bigint as eligible_chunks from rag.corpus")
_BOTH = text(
    f"""
    select revision as corpus_revision, (
        select count(*)
        from (
            select
            from rag.child_chunk as c
            where (cast(:collection_ids as bigint[]) is null or c.collection_id = any (:collection_ids))
                and (cast(:document_ids as uuid[]) is null or c.document_id = any (array(select unnest(:document_ids))))
            limit {MOST_COUNTED + 1}
        ) as eligible
    ) as eligible_chunks
    from rag.corpus
    """  # noqa: S608 - a number of ours
).bindparams(bindparam("collection_ids", type_=ARRAY(BigInteger)), bindparam("document_ids", type_=ARRAY(Uuid)))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``eligible_chunks`` is None without a restriction; one more than `MOST_COUNTED` stands for any number above."""

    corpus_revision: int
    eligible_chunks: int | None


async def look_around(connection: AsyncConnection, scope: Scope) -> Surroundings:
    """Read both in one round trip, in the snapshot of the search."""
    if scope.collection_ids is None and scope.document_ids is None:
        row = (await connection.execute(_REVISION)).one()
    else:
        values = {"collection_ids": scope.collection_ids, "document_ids": scope.document_ids}
        row = (await connection.execute(_BOTH, values)).one()
    return Surroundings(**row._mapping)
