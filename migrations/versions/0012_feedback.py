"""Feedback on passages, and the id by which a search is known from its answer to the search log

Searches of before have no id in the log; a service of an earlier version that still writes there has one made.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "search_log",
        sa.Column("search_id", UUID(), comment="Public key, as the answer names it; null for searches of before"),
        schema="rag",
    )
    # not with the column itself: that would write every row anew
    op.alter_column("search_log", "search_id", server_default=sa.text("gen_random_uuid()"), schema="rag")
    op.create_unique_constraint("search_log_search_id_key", "search_log", ["search_id"], schema="rag")
    op.create_table(
        "feedback",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Key"),
        sa.Column("search_id", UUID(), nullable=False, comment="Search that returned the passage; may not be logged"),
        sa.Column("chunk_id", UUID(), nullable=False, comment="Parent chunk that was judged; may be replaced since"),
        sa.Column("verdict", sa.Text(), nullable=False, comment="good or bad"),
        sa.Column("comment", sa.Text(), comment="What the person said about it"),
        sa.Column("query", sa.Text(), comment="Query text, as the caller of the feedback sent it"),
        sa.Column("collection_id", sa.BigInteger(), comment="Collection of the document; null when it was gone"),
        sa.Column("document_id", UUID(), comment="Document of the passage; may be deleted since"),
        sa.Column("source", sa.Text(), comment="Source of the document then"),
        sa.Column("content", sa.Text(), comment="Text of the passage then"),
        sa.Column(
            "judged_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When it was judged, the last time",
        ),
        sa.CheckConstraint("verdict in ('good', 'bad')", name="feedback_verdict_check"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["rag.collection.id"], name="feedback_collection_id_fkey", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="feedback_pkey"),
        sa.UniqueConstraint("search_id", "chunk_id", name="feedback_search_id_chunk_id_key"),
        schema="rag",
        comment="What people think of passages that searches returned, one row a passage of a search",
    )
    op.create_index("feedback_collection_id_idx", "feedback", ["collection_id"], schema="rag")


def downgrade() -> None:
    op.drop_table("feedback", schema="rag")
    op.drop_column("search_log", "search_id", schema="rag")
