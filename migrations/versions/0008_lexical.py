"""Pairs of Han characters in the BM25 index, thresholds, and a revision of the corpus

The BM25 index of the child chunks is built anew in this transaction, which keeps searches waiting: about 40 seconds for
100,000 chunks. It cannot be built concurrently here: that needs a transaction of its own, and the migration is one.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, text

from service.db.sql_files import run_sql_file

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_EXPRESSIONS = (
    "expressions/simplified.v1.sql",
    "expressions/search_words.v1.sql",
    "expressions/search_characters.v1.sql",
    "expressions/query_characters.v1.sql",
)
_FUNCTIONS = ("hybrid_search", "fts_candidates", "vector_candidates")


def upgrade() -> None:
    connection = op.get_bind()
    for name in _FUNCTIONS:
        op.execute(f"drop function rag.{name}")
    for file in _EXPRESSIONS:
        run_sql_file(connection, file)
    op.execute("drop index rag.child_chunk_bm25")
    run_sql_file(connection, "indexes/child_chunk_bm25.v2.sql")
    run_sql_file(connection, "functions/vector_candidates.v2.sql")
    run_sql_file(connection, "functions/fts_candidates.v2.sql")
    run_sql_file(connection, "functions/hybrid_search.v2.sql")
    _corpus()
    run_sql_file(connection, "grants/rag_analyst.v3.sql")


def downgrade() -> None:
    connection = op.get_bind()
    op.drop_table("corpus", schema="rag")
    for name in _FUNCTIONS:
        op.execute(f"drop function rag.{name}")
    op.execute("drop index rag.child_chunk_bm25")
    for name in ("query_characters", "search_characters", "search_words", "simplified"):
        op.execute(f"drop function rag.{name}")
    run_sql_file(connection, "indexes/child_chunk_bm25.v1.sql")
    for name in reversed(_FUNCTIONS):
        run_sql_file(connection, f"functions/{name}.v1.sql")
    run_sql_file(connection, "grants/rag_analyst.v2.sql")


def _corpus() -> None:
    op.create_table(
        "corpus",
        Column("only_row", Boolean, primary_key=True, server_default=text("true"), comment="There is one row"),
        Column(
            "revision",
            BigInteger,
            nullable=False,
            server_default=text("1"),
            comment="Goes up with every change of what searches can find, or of how they order it",
        ),
        CheckConstraint("only_row", name="only_row"),
        schema="rag",
        comment="State of all that is searched: at one revision a search always has the same answer",
    )
    op.execute("insert into rag.corpus default values")
