"""Documents with words of their own, and whether each leg still finds every one."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import DatabaseSettings, SearchSettings
from service.db.bm25 import Bm25Health, watch
from service.db.engine import create_engine
from service.rerank import KeepOrder
from service.search import SearchParts, search
from service.types import SearchRequest, SearchResult
from tests.database.chunk_rows import Child, collection, document, random_vector, search_connection
from tests.fakes.hash_embedder import HashEmbedder, following

INVALID = "select relname from pg_index join pg_class on oid = indexrelid where not indisvalid order by relname"
FILES = """
    select relname, pg_relation_filenode(oid) from pg_class where relname in ('child_chunk_bm25', 'parent_chunk_bm25')
"""


def watched(dsn: str) -> tuple[AsyncEngine, Bm25Health]:
    """An engine as the service has it, and what its connections see."""
    engine = create_engine(dsn, DatabaseSettings(pool_size=4), SearchSettings())
    return engine, watch(engine)


def write(dsn: str, numbers: Iterable[int]) -> None:
    """Write one document a number, each in a transaction of its own."""
    with search_connection(dsn) as connection:
        row = connection.execute("select id from rag.collection where name = 'c'").fetchone()
        collection_id = int(row[0]) if row else collection(connection, "c")
        for number in numbers:
            children = [Child(f"第{number}份合同 编号N{number}", random_vector(number)), Child("通用条款")]
            document(connection, collection_id, f"s{number}", [children])


def found_by_words(dsn: str, numbers: Iterable[int]) -> list[int]:
    """Those documents that the fts leg finds by their own word."""
    with search_connection(dsn) as connection:
        return [
            number
            for number in numbers
            if connection.execute(
                "select 1 from rag.fts_candidates(%s, 5) join rag.child_chunk on id = child_id where content like %s",
                [f"N{number}", f"%编号N{number}"],
            ).fetchone()
        ]


def found_by_vector(dsn: str, numbers: Iterable[int]) -> list[int]:
    """Those documents that the vector leg finds by their own vector."""
    with search_connection(dsn) as connection:
        return [
            number
            for number in numbers
            if connection.execute(
                "select 1 from rag.vector_candidates(%s, 1) join rag.child_chunk on id = child_id"
                " where content like %s",
                [random_vector(number), f"%编号N{number}"],
            ).fetchone()
        ]


def lose_sentinels(dsn: str) -> None:
    """Do to the sentinels what a crash does."""
    fetch(dsn, "truncate rag.bm25_sentinel")


def fetch(dsn: str, statement: str) -> list[tuple[object, ...]]:
    """All rows of one statement, run by itself."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement)  # type: ignore[call-overload]
        return cursor.fetchall() if cursor.description else []


async def ask(engine: AsyncEngine, health: Bm25Health, query: str, *, fts_weight: float = 30) -> SearchResult:
    """Search as the service does."""
    parts = SearchParts(engine, following(HashEmbedder(384)), KeepOrder(), SearchSettings(), health)
    request = SearchRequest(query=query, top_n=5, candidates=50, vector_weight=70, fts_weight=fts_weight, rrf_k=60)
    return await search(parts, request)


async def sentinels(engine: AsyncEngine) -> int:
    async with engine.connect() as connection:
        return int(await connection.scalar(text("select count(*) from rag.bm25_sentinel")) or 0)
