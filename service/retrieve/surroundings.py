"""What a search finds when it opens its snapshot: embedding space, corpus revision, collections, chunks in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.spaces import EmbeddingSpace, begin_reading
from service.types import SearchRequest

MOST_COUNTED = 20_000
"""Up to here eligible chunks are counted, and compared with the query one by one (`rag.vector_candidates`)."""

# The chunks are counted only where the collections are all there is to the restriction.
_SURROUNDINGS: LiteralString = """
    with asked as materialized (
        select c.id, c.name, c.settings
        from rag.collection as c
        where %(names)s::text[] is null or c.name = any (%(names)s::text[])
    )
    select
        r.revision,
        (
            select coalesce(jsonb_agg(jsonb_build_array(a.id, a.name, a.settings::text) order by a.id), '[]')
            from asked as a
        ),
        case when %(is_counted)s then (
            select count(*)
            from (
                select
                from rag.child_chunk as k
                where k.collection_id = any (array(select a.id from asked as a))
                limit %(most_counted)s + 1
            ) as eligible
        ) end
    from rag.corpus as r
"""


@dataclass(frozen=True, slots=True)
class SearchedCollection:
    """A collection that is searched; ``settings`` are the JSON text of what is stored."""

    id: int
    name: str
    settings: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds in the snapshot of a search.

    ``collections`` are those that are named, as far as they exist and may be seen, else all such, in order of their
    ids. ``chunks_in_collections`` is None unless collections, and nothing else, restrict the search; one more
    than `MOST_COUNTED` stands for any number above.
    """

    space: EmbeddingSpace
    corpus_revision: int
    collections: tuple[SearchedCollection, ...]
    chunks_in_collections: int | None


async def look_around(connection: AsyncConnection, request: SearchRequest) -> Surroundings:
    """Open the snapshot of a search and read what it has to know before it can ask: one message there and back.

    Args:
        connection: of `service.db.spaces.reading`, without a transaction.
    """
    names = request.searched
    space, row = await begin_reading(
        connection,
        _SURROUNDINGS,
        {
            "names": None if names is None else list(names),
            "is_counted": names is not None and request.filters.is_empty,
            "most_counted": MOST_COUNTED,
        },
    )
    revision, collections, chunk_count = row
    return Surroundings(space, revision, tuple(SearchedCollection(*found) for found in collections), chunk_count)
