"""The embedding cache in PostgreSQL. Each call is a short transaction of its own: what was paid for stays paid for,
whatever becomes of the ingestion that asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.engine import driver_connection
from service.db.models import EmbeddingModelRow
from service.types import EmbeddingModel, Vector

_ROWS_PER_STATEMENT = 500
_GET = "select text_sha256, embedding from rag.embedding_cache where model_id = %s and text_sha256 = any(%s)"
_PUT = """
    insert into rag.embedding_cache (model_id, text_sha256, embedding) values (%b, %b, %b) on conflict do nothing
"""


class DatabaseEmbeddingCache:
    """Keeps vectors by SHA-256 of the embedded text, for one embedding model.

    A model that the database does not know (yet) has nothing cached, and nothing is kept for it.
    """

    def __init__(self, engine: AsyncEngine, model: EmbeddingModel) -> None:
        self._engine = engine
        self._model_id = (
            select(EmbeddingModelRow.id)
            .where(
                EmbeddingModelRow.provider == model.provider,
                EmbeddingModelRow.name == model.name,
                EmbeddingModelRow.dimension == model.dimension,
            )
            .scalar_subquery()
        )

    async def get_many(self, model_key: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]:
        """Return the known vectors among ``hashes``."""
        known: dict[bytes, Vector] = {}
        async with self._engine.connect() as connection:
            model_id = await connection.scalar(select(self._model_id))
            if model_id is None:
                return known
            driver = await driver_connection(connection)
            for some in batched(hashes, _ROWS_PER_STATEMENT):
                # In binary: a vector as text costs a hundred times as much, in the thread that answers searches too.
                async with driver.cursor(binary=True) as cursor:
                    await cursor.execute(_GET, (model_id, list(some)))
                    known |= {digest: vector.to_numpy() for digest, vector in await cursor.fetchall()}
        return known

    async def put_many(self, model_key: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors; known ones stay as they are."""
        async with self._engine.begin() as connection:
            model_id = await connection.scalar(select(self._model_id))
            if model_id is None:
                return
            driver = await driver_connection(connection)
            # In order of the key: two ingestions of the same texts must not wait for one another in a circle.
            async with driver.cursor() as cursor:
                await cursor.executemany(_PUT, [(model_id, digest, vectors[digest]) for digest in sorted(vectors)])
