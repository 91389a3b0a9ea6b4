"""The embedding cache in PostgreSQL. Each call is a short transaction of its own: what was paid for stays paid for,
whatever becomes of the ingestion that asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched

from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.engine import driver_connection
from service.types import EmbeddingModel, Vector

_ROWS_PER_STATEMENT = 500
_GET = """
    select c.text_sha256, c.embedding
    from rag.embedding_cache as c
    join rag.embedding_model as m on m.id = c.model_id
    where (m.provider, m.name, m.dimension) = (%s, %s, %s) and c.text_sha256 = any(%s)
"""
_PUT = """
    insert into rag.embedding_cache (text_sha256, embedding, model_id)
    select %b, %b, m.id from rag.embedding_model as m where (m.provider, m.name, m.dimension) = (%s, %s, %s)
    on conflict do nothing
"""


class DatabaseEmbeddingCache:
    """Keeps vectors by SHA-256 of the embedded text, for one embedding model.

    A model that the database does not know (yet) has nothing cached, and nothing is kept for it.
    """

    def __init__(self, engine: AsyncEngine, model: EmbeddingModel) -> None:
        self._engine = engine
        self._model = (model.provider, model.name, model.dimension)

    async def get_many(self, model_key: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]:
        """Return the known vectors among ``hashes``."""
        known: dict[bytes, Vector] = {}
        async with self._engine.connect() as connection:
            driver = await driver_connection(connection)
            for some in batched(hashes, _ROWS_PER_STATEMENT):
                # In binary: a vector as text costs a hundred times as much, in the thread that answers searches too.
                async with driver.cursor(binary=True) as cursor:
                    await cursor.execute(_GET, (*self._model, list(some)))
                    known |= {digest: vector.to_numpy() for digest, vector in await cursor.fetchall()}
        return known

    async def put_many(self, model_key: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors; known ones stay as they are."""
        async with self._engine.begin() as connection:
            driver = await driver_connection(connection)
            # In order of the key: two ingestions of the same texts must not wait for one another in a circle.
            async with driver.cursor() as cursor:
                await cursor.executemany(_PUT, [(digest, vectors[digest], *self._model) for digest in sorted(vectors)])
