"""A second embedding space beside the active one

Its vectors are in `child_chunk.embedding_standby`, a column that `fuzi reembed` adds and drops: its dimension is data,
as that of the first is.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, Text, text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _flag("standby", "True for the model of child_chunk.embedding_standby, which `fuzi reembed` fills or keeps")
    _flag("send_dimension", "True when the provider has to be asked for this dimension")
    comment = "URL of the provider, when it is not the one that its adapter knows"
    op.add_column("embedding_model", Column("base_url", Text, nullable=True, comment=comment), schema="rag")
    comment = "When searches began to use its vectors, the last time; null for never"
    activated_at = Column("activated_at", DateTime(timezone=True), nullable=True, comment=comment)
    op.add_column("embedding_model", activated_at, schema="rag")
    op.execute("update rag.embedding_model set activated_at = created_at where active")
    only_standby: dict[str, Any] = {"unique": True, "postgresql_where": text("standby")}
    op.create_index("embedding_model_standby_idx", "embedding_model", ["standby"], schema="rag", **only_standby)
    op.create_check_constraint("one_space", "embedding_model", "not (active and standby)", schema="rag")
    op.create_table_comment(
        "embedding_model",
        "Models whose vectors are or were stored here; at most one is active, and one other on standby",
        schema="rag",
    )


def downgrade() -> None:
    op.execute("alter table rag.child_chunk drop column if exists embedding_standby")
    op.execute("alter table rag.embedding_model drop constraint embedding_model_one_space_check")
    op.drop_index("embedding_model_standby_idx", "embedding_model", schema="rag")
    for name in ("activated_at", "base_url", "send_dimension", "standby"):
        op.drop_column("embedding_model", name, schema="rag")
    op.create_table_comment(
        "embedding_model",
        "Embedding models whose vectors are or were stored here; at most one is active",
        schema="rag",
    )


def _flag(name: str, comment: str) -> None:
    kind: Column[Any] = Column(name, Boolean, server_default=text("false"), nullable=False, comment=comment)
    op.add_column("embedding_model", kind, schema="rag")
