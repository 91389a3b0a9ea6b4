"""The headings of a child chunk below those of its parent chunk

A parent chunk may join several small sections; its heading path is what they have in common. Rows from before are right
without: their parent chunks lie in one section each.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import ARRAY, Column, Text, text

from service.db.sql_files import run_sql_file

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    comment = "Headings between the heading path of its parent chunk and itself, outermost first"
    path: Column[Any] = Column(
        "inner_path", ARRAY(Text), server_default=text("'{}'::text[]"), nullable=False, comment=comment
    )
    op.add_column("child_chunk", path, schema="rag")
    op.execute("drop view rag.child_chunks_overview")
    connection = op.get_bind()
    run_sql_file(connection, "views/child_chunks_overview.v2.sql")
    run_sql_file(connection, "grants/rag_analyst.v2.sql")


def downgrade() -> None:
    op.execute("drop view rag.child_chunks_overview")
    op.drop_column("child_chunk", "inner_path", schema="rag")
    connection = op.get_bind()
    run_sql_file(connection, "views/child_chunks_overview.v1.sql")
    run_sql_file(connection, "grants/rag_analyst.v2.sql")
