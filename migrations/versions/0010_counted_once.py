"""Up to 20,000 eligible chunks are compared one by one, and a caller who has counted them says so

Functions only: the indexes stay as they are, and no search waits. An HNSW index of before keeps its options (m 16,
ef_construction 64); docs/scale.md says how it is built anew beside searches.
"""

from __future__ import annotations

from alembic import op

from service.db.sql_files import run_sql_file

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    _drop()
    run_sql_file(connection, "functions/vector_candidates.v3.sql")
    run_sql_file(connection, "functions/hybrid_search.v4.sql")
    run_sql_file(connection, "grants/rag_analyst.v5.sql")


def downgrade() -> None:
    connection = op.get_bind()
    _drop()
    run_sql_file(connection, "functions/vector_candidates.v2.sql")
    run_sql_file(connection, "functions/hybrid_search.v3.sql")
    run_sql_file(connection, "grants/rag_analyst.v4.sql")


def _drop() -> None:
    op.execute("drop function rag.hybrid_search")
    op.execute("drop function rag.vector_candidates")
