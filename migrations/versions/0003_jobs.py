"""Ingestion jobs, the queue they wait in, and the outbox of originals"""

from __future__ import annotations

from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy import Column, Text, text

from service.db.job_models import Job, OriginalRemoval

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    for model in (Job, OriginalRemoval):
        model.__table__.create(connection)  # type: ignore[attr-defined]
    prefix = Column(
        "embedding_prefix",
        Text,
        nullable=False,
        server_default=text("''"),
        comment="Text put before the content when it is embedded: the header row of a table that was cut",
    )
    op.add_column("child_chunk", prefix, schema="rag")
    # The queue's tables are procrastinate's own and live in a schema of their own; its SQL names no schema.
    connection.exec_driver_sql("create schema queue")
    connection.exec_driver_sql("set local search_path = queue, pg_catalog")
    connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
    connection.exec_driver_sql("set local search_path = pg_catalog")


def downgrade() -> None:
    op.execute("drop schema queue cascade")
    op.drop_column("child_chunk", "embedding_prefix", schema="rag")
    for name in ("original_removal", "job"):
        op.drop_table(name, schema="rag")
