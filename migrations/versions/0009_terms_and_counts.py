"""The fts leg asks for one list of terms, and the vector leg compares up to 20,000 eligible chunks one by one

Functions, and one index option: the indexes stay as they are, and no search waits.

The BM25 index can answer one list of terms without scoring every chunk. Its next rebuild makes one segment instead of
four, at about the same cost (100,000 chunks: 48 s instead of 43, 31 MB instead of 44). A search looks up each term in
each segment: by the old function it then took 9 ms instead of 16.

A caller who has counted the eligible chunks says so. An HNSW index of before keeps its options (m 16, ef_construction
64); docs/scale.md says how it is built anew beside searches.
"""

from __future__ import annotations

from alembic import op

from service.db.sql_files import run_sql_file

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    _drop("hybrid_search", "fts_candidates", "vector_candidates")
    run_sql_file(connection, "expressions/fts_query.v1.sql")
    run_sql_file(connection, "functions/fts_candidates.v3.sql")
    run_sql_file(connection, "functions/vector_candidates.v3.sql")
    run_sql_file(connection, "functions/hybrid_search.v3.sql")
    run_sql_file(connection, "grants/rag_analyst.v4.sql")
    op.execute("alter index rag.child_chunk_bm25 set (target_segment_count = 1)")


def downgrade() -> None:
    connection = op.get_bind()
    op.execute("alter index rag.child_chunk_bm25 reset (target_segment_count)")
    _drop("hybrid_search", "fts_candidates", "vector_candidates", "fts_query")
    run_sql_file(connection, "functions/fts_candidates.v2.sql")
    run_sql_file(connection, "functions/vector_candidates.v2.sql")
    run_sql_file(connection, "functions/hybrid_search.v2.sql")
    run_sql_file(connection, "grants/rag_analyst.v3.sql")


def _drop(*functions: str) -> None:
    for name in functions:
        op.execute(f"drop function rag.{name}")
