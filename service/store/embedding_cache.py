"""The embedding cache in PostgreSQL. Each call is a short transaction of its own: what was paid for stays paid for,
whatever becomes of the ingestion that asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.models import EmbeddingCache, EmbeddingModelRow
from service.types import EmbeddingModel, Vector

_ROWS_PER_STATEMENT = 500


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
        query = select(EmbeddingCache.text_sha256, EmbeddingCache.embedding).where(
            EmbeddingCache.model_id == self._model_id, EmbeddingCache.text_sha256 == func.any(list(hashes))
        )
        async with self._engine.connect() as connection:
            return {row.text_sha256: np.asarray(row.embedding) for row in await connection.execute(query)}

    async def put_many(self, model_key: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors; known ones stay as they are."""
        async with self._engine.begin() as connection:
            model_id = await connection.scalar(select(self._model_id))
            if model_id is None:
                return
            # In order of the key: two ingestions of the same texts must not wait for one another in a circle.
            rows = [
                {"model_id": model_id, "text_sha256": digest, "embedding": vectors[digest]}
                for digest in sorted(vectors)
            ]
            for start in range(0, len(rows), _ROWS_PER_STATEMENT):
                await connection.execute(
                    insert(EmbeddingCache).on_conflict_do_nothing(), rows[start : start + _ROWS_PER_STATEMENT]
                )
