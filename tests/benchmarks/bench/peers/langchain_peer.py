"""langchain-postgres: `PGVectorStore` with a hybrid search configuration, HNSW and GIN indexes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any
from uuid import UUID

import psycopg
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_postgres.v2.async_vectorstore import AsyncPGVectorStore
from langchain_postgres.v2.engine import PGEngine
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
from langchain_postgres.v2.indexes import DistanceStrategy, HNSWIndex, HNSWQueryOptions
from sqlalchemy.ext.asyncio import create_async_engine

from tests.benchmarks.bench.load.drive import speak
from tests.benchmarks.bench.peers.peer import (
    ANSWERS,
    CANDIDATES,
    CONNECTIONS,
    EF_CONSTRUCTION,
    EF_SEARCH,
    HNSW_M,
    Chunk,
    Peer,
    Question,
    vector_text,
)


class Prepared(Embeddings):
    """Vectors are at hand: nothing is embedded here."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError


class LangChain(Peer):
    """The store's own async methods, with as many connections as clients."""

    async def open(self) -> dict[str, Any]:
        url = "postgresql+asyncpg://" + self.dsn.partition("://")[2]
        self._engine = PGEngine.from_engine(create_async_engine(url, pool_size=CONNECTIONS))
        self._table = "langchain_segmented" if self.segmented else "langchain_plain"
        # as shipped the texts are taken for English; words with blanks between need no language
        self._language = "pg_catalog.simple" if self.segmented else "pg_catalog.english"
        return {"versions": {"langchain-postgres": version("langchain-postgres")}}

    async def fill(self, chunks: Iterator[Chunk]) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            if not _exists(connection, f"{self._table}_filled"):
                connection.execute(f"drop table if exists {self._table}")
                await self._create_table(self._table)
                _copy(connection, self._table, self._language, chunks)
                store = await self._open_store(self._table)
                connection.execute("alter system set maintenance_work_mem = '1GB'")
                connection.execute("select pg_reload_conf()")
                await store.aapply_vector_index(
                    HNSWIndex(
                        m=HNSW_M,
                        ef_construction=EF_CONSTRUCTION,
                        distance_strategy=DistanceStrategy.COSINE_DISTANCE,
                    )
                )
                await store.aapply_hybrid_search_index()
                connection.execute("alter system reset maintenance_work_mem")
                connection.execute("select pg_reload_conf()")
                connection.execute(f"vacuum analyze {self._table}")
                connection.execute(f"create table {self._table}_filled ()")
        self._store = await self._open_store(self._table)

    async def write(self, batches: Iterator[Sequence[Chunk]]) -> None:
        for part in batches:
            await self._store.aadd_embeddings(
                [chunk.text for chunk in part],
                [chunk.vector.tolist() for chunk in part],
                [{"source": chunk.source} for chunk in part],
                [str(UUID(int=chunk.number)) for chunk in part],
            )

    async def vector(self, question: Question) -> list[str]:
        return [document.metadata["source"] for document in await self._near(question)]

    async def nearest(self, question: Question) -> list[int]:
        return [UUID(document.id).int for document in await self._near(question)]

    async def _near(self, question: Question) -> list[Document]:
        found = await self._store.asimilarity_search_with_score_by_vector(
            question.vector, k=CANDIDATES, hybrid_search_config=None
        )
        return [document for document, _ in found]

    async def hybrid(self, question: Question) -> list[str]:
        found = await self._store.asimilarity_search_with_score_by_vector(
            question.vector, k=ANSWERS, hybrid_search_config=self._config(question.text)
        )
        return [document.metadata["source"] for document, _ in found]

    async def words(self, question: Question) -> list[str]:
        """The store has no keyword search alone: the statement of its hybrid search."""
        statement = (
            f"select langchain_metadata ->> 'source' from {self._table}"
            " where content_tsv @@ plainto_tsquery(%s::regconfig, %s) limit 1"
        )
        async with await psycopg.AsyncConnection.connect(self.dsn) as connection:
            rows = await (await connection.execute(statement, [self._language, question.text])).fetchall()
        return [row[0] for row in rows]

    def _config(self, text: str = "") -> HybridSearchConfig:
        return HybridSearchConfig(
            tsv_column="content_tsv",
            tsv_lang=self._language,
            fts_query=text,
            fusion_function=reciprocal_rank_fusion,
            primary_top_k=CANDIDATES,
            secondary_top_k=CANDIDATES,
            index_name=f"{self._table}_tsv",
        )

    async def _create_table(self, name: str) -> None:
        await self._engine.ainit_vectorstore_table(name, 384, hybrid_search_config=self._config())

    async def _open_store(self, name: str) -> AsyncPGVectorStore:
        return await AsyncPGVectorStore.create(
            self._engine,
            Prepared(),
            name,
            distance_strategy=DistanceStrategy.COSINE_DISTANCE,
            index_query_options=HNSWQueryOptions(ef_search=EF_SEARCH),
            hybrid_search_config=self._config(),
        )


def _exists(connection: psycopg.Connection[Any], table: str) -> bool:
    row = connection.execute("select to_regclass(%s) is not null", [table]).fetchone()
    return bool(row and row[0])


def _copy(connection: psycopg.Connection[Any], table: str, language: str, chunks: Iterator[Chunk]) -> None:
    with connection.transaction():
        connection.execute(
            "create temporary table loaded (id uuid, content text, embedding vector(384), metadata json) on commit drop"
        )
        with connection.cursor() as cursor, cursor.copy("copy loaded from stdin") as copy:
            for chunk in chunks:
                metadata = json.dumps({"source": chunk.source}, ensure_ascii=False)
                copy.write_row((UUID(int=chunk.number), chunk.text, vector_text(chunk.vector), metadata))
        connection.execute(
            f"insert into {table} (langchain_id, content, embedding, langchain_metadata, content_tsv)"
            f" select id, content, embedding, metadata, to_tsvector('{language}', content) from loaded"
        )


if __name__ == "__main__":
    speak(LangChain().handle)
