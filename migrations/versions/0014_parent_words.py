"""Words of the parents' BM25 index by the function that those of the children come from

pg_search's own conversion to simplified characters loads a dictionary in every connection that writes parent chunks.
Without it the first document of a connection takes 25 ms of the processor instead of 295, each later one (20 chunks in
five parents, all indexes but HNSW) 13.0 instead of 16.3, and the connection keeps 72 MB of memory instead of 163.

The index is built anew in this transaction, which keeps searches waiting: two thirds as long as its first build, some
40 seconds for 100,000 child chunks.
"""

from __future__ import annotations

from alembic import op

from service.db.sql_files import run_sql_file

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("drop index rag.parent_chunk_bm25")
    run_sql_file(op.get_bind(), "indexes/parent_chunk_bm25.v2.sql")


def downgrade() -> None:
    op.execute("drop index rag.parent_chunk_bm25")
    run_sql_file(op.get_bind(), "indexes/parent_chunk_bm25.v1.sql")
    op.execute(
        "alter index rag.parent_chunk_bm25 set"
        " (background_layer_sizes = '10kb, 100kb, 1mb, 4mb, 16mb, 64mb, 256mb', target_segment_count = 1)"
    )
