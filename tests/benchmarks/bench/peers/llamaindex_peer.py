"""llama-index-vector-stores-postgres: `PGVectorStore` with `hybrid_search=True` and an HNSW index."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any
from uuid import UUID

import psycopg
from llama_index.core.schema import BaseNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.postgres import PGVectorStore

from tests.benchmarks.bench.load.drive import speak
from tests.benchmarks.bench.peers.peer import (
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


class LlamaIndex(Peer):
    """The store's own async methods, with as many connections as clients."""

    async def open(self) -> dict[str, Any]:
        self._name = "llama_segmented" if self.segmented else "llama_plain"
        self._table = f"data_{self._name}"
        rest = self.dsn.partition("://")[2]
        self._store = PGVectorStore(
            connection_string=f"postgresql+psycopg2://{rest}",
            async_connection_string=f"postgresql+asyncpg://{rest}",
            table_name=self._name,
            hybrid_search=True,
            # as shipped the texts are taken for English; words with blanks between need no language
            text_search_config="simple" if self.segmented else "english",
            embed_dim=384,
            hnsw_kwargs={
                "hnsw_m": HNSW_M,
                "hnsw_ef_construction": EF_CONSTRUCTION,
                "hnsw_ef_search": EF_SEARCH,
                "hnsw_dist_method": "vector_cosine_ops",
            },
            create_engine_kwargs={"pool_size": 2 * CONNECTIONS},  # a hybrid search takes two at once
            initialization_fail_on_error=True,
        )
        return {"versions": {"llama-index-vector-stores-postgres": version("llama-index-vector-stores-postgres")}}

    async def fill(self, chunks: Iterator[Chunk]) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            row = connection.execute("select to_regclass(%s) is not null", [f"{self._table}_filled"]).fetchone()
            filled = bool(row and row[0])
            if not filled:
                connection.execute(f"drop table if exists {self._table}")
            await self._store.aquery(VectorStoreQuery(query_embedding=[1.0] * 384, similarity_top_k=1))  # sets it up
            if filled:
                return
            index = f"{self._table}_embedding_idx"
            row = connection.execute("select pg_get_indexdef(%s::regclass)", [index]).fetchone()
            assert row is not None
            connection.execute(f"drop index {index}")
            statement = f"copy {self._table} (text, metadata_, node_id, embedding) from stdin"
            with connection.cursor() as cursor, cursor.copy(statement) as copy:
                for chunk in chunks:
                    node = _node(chunk)
                    metadata = json.dumps(node_to_metadata_dict(node, remove_text=True), ensure_ascii=False)
                    copy.write_row((chunk.text, metadata, node.node_id, vector_text(chunk.vector)))
            connection.execute("set maintenance_work_mem = '1GB'")
            connection.execute(row[0])
            connection.execute(f"vacuum analyze {self._table}")
            connection.execute(f"create table {self._table}_filled ()")

    async def write(self, batches: Iterator[Sequence[Chunk]]) -> None:
        for part in batches:
            nodes = [_node(chunk) for chunk in part]
            for node, chunk in zip(nodes, part, strict=True):
                node.embedding = chunk.vector.tolist()
            await self._store.async_add(nodes)

    async def vector(self, question: Question) -> list[str]:
        return _sources(await self._ask(question, VectorStoreQueryMode.DEFAULT))

    async def nearest(self, question: Question) -> list[int]:
        return [UUID(node.node_id).int for node in await self._ask(question, VectorStoreQueryMode.DEFAULT)]

    async def words(self, question: Question) -> list[str]:
        return _sources(await self._ask(question, VectorStoreQueryMode.SPARSE))

    async def hybrid(self, question: Question) -> list[str]:
        return _sources(await self._ask(question, VectorStoreQueryMode.HYBRID))

    async def _ask(self, question: Question, mode: VectorStoreQueryMode) -> Sequence[BaseNode]:
        """The order of a hybrid search is that of the store: the vector leg's, then what only the words brought."""
        found = await self._store.aquery(
            VectorStoreQuery(
                query_embedding=question.vector,
                query_str=question.text,
                similarity_top_k=CANDIDATES,
                sparse_top_k=CANDIDATES,
                mode=mode,
            )
        )
        return found.nodes or ()


def _sources(nodes: Sequence[BaseNode]) -> list[str]:
    return [node.metadata["source"] for node in nodes]


def _node(chunk: Chunk) -> TextNode:
    return TextNode(
        id_=str(UUID(int=chunk.number)),
        text=chunk.text,
        metadata={"source": chunk.source},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.source)},
    )


if __name__ == "__main__":
    speak(LlamaIndex().handle)
