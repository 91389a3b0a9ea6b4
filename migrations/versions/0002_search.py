"""Search indexes and search functions"""

from __future__ import annotations

from alembic import context, op

from service.config import DatabaseSettings
from service.db.sql_files import run_sql_file

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    database: DatabaseSettings = context.config.attributes["settings"].database
    connection = op.get_bind()
    _hnsw(database.hnsw_m, database.hnsw_ef_construction)
    run_sql_file(connection, "indexes/child_chunk_bm25.v1.sql")
    run_sql_file(connection, "indexes/parent_chunk_bm25.v1.sql")
    # made whole just now, in the transaction that makes them
    op.execute("insert into rag.bm25_sentinel (index_name) values ('child_chunk_bm25'), ('parent_chunk_bm25')")
    run_sql_file(connection, "functions/vector_candidates.v1.sql")
    run_sql_file(connection, "functions/fts_candidates.v1.sql")
    run_sql_file(connection, "functions/hybrid_search.v1.sql")


def downgrade() -> None:
    op.execute("drop function rag.hybrid_search")
    op.execute("drop function rag.fts_candidates")
    op.execute("drop function rag.vector_candidates")
    op.execute("delete from rag.bm25_sentinel")
    op.execute("drop index rag.parent_chunk_bm25, rag.child_chunk_bm25, rag.child_chunk_embedding_hnsw")


def _hnsw(m: int, ef_construction: int) -> None:
    kind = op.get_bind().exec_driver_sql(
        "select format_type(atttypid, null) from pg_attribute"
        " where attrelid = 'rag.child_chunk'::regclass and attname = 'embedding'"
    )
    operators = {"vector": "vector_cosine_ops", "halfvec": "halfvec_cosine_ops"}[kind.scalar_one().rpartition(".")[2]]
    op.create_index(
        "child_chunk_embedding_hnsw",
        "child_chunk",
        ["embedding"],
        schema="rag",
        postgresql_using="hnsw",
        postgresql_ops={"embedding": operators},
        postgresql_with={"m": m, "ef_construction": ef_construction},
    )
