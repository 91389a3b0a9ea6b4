"""Ingestion jobs, the queue they wait in, and the outbox of originals"""

from __future__ import annotations

from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    LargeBinary,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _job()
    op.create_table(
        "original_removal",
        Column("object_key", Text, primary_key=True, comment="Key in the object store"),
        _time("noted_at", "When the last reference went away", default="now()"),
        _number("attempts", "Deletions that failed"),
        schema="rag",
        comment="Originals that nothing refers to any more and that are still to be deleted",
    )
    comment = "Text embedded before the content: the header row of a table that was cut"
    prefix = Column("embedding_prefix", Text, server_default=text("''"), nullable=False, comment=comment)
    op.add_column("child_chunk", prefix, schema="rag")
    # The queue's tables are procrastinate's own and live in a schema of their own; its SQL names no schema.
    connection = op.get_bind()
    before = connection.exec_driver_sql("show search_path").scalar_one()
    # an administrator may have made it for a role that may not
    if connection.exec_driver_sql("select to_regnamespace('queue') is null").scalar_one():
        connection.exec_driver_sql("create schema queue")
    connection.exec_driver_sql("set local search_path = queue, pg_catalog")
    connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
    connection.exec_driver_sql(f"set local search_path = {before}")


def downgrade() -> None:
    op.execute("drop schema queue cascade")
    op.drop_column("child_chunk", "embedding_prefix", schema="rag")
    for name in ("original_removal", "job"):
        op.drop_table(name, schema="rag")


def _text(name: str, comment: str, *, null: bool = True) -> Column[str]:
    return Column(name, Text, nullable=null, comment=comment)


def _number(name: str, comment: str) -> Column[int]:
    return Column(name, Integer, server_default=text("0"), nullable=False, comment=comment)


def _time(name: str, comment: str, default: str | None = None) -> Column[object]:
    server_default = None if default is None else text(default)
    return Column(
        name, DateTime(timezone=True), server_default=server_default, nullable=default is None, comment=comment
    )


def _job() -> None:
    op.create_table(
        "job",
        Column("id", Uuid, primary_key=True, comment="Public key"),
        Column("document_id", Uuid, nullable=False, comment="Document it makes or replaces; may be deleted since"),
        Column(
            "collection_id",
            BigInteger,
            ForeignKey("rag.collection.id", ondelete="CASCADE", name="job_collection_id_fkey"),
            nullable=False,
            comment="Collection of the document",
        ),
        _text("source", "Source of the document", null=False),
        _text("file_name", "File name as uploaded", null=False),
        _text("declared_type", "Media type the caller declared"),
        _text("object_key", "Key of the upload's original in the object store", null=False),
        Column("size_bytes", BigInteger, nullable=False, comment="Size of the original in bytes"),
        Column("sha256", LargeBinary, nullable=False, comment="SHA-256 of the original"),
        _text("title", "Title the caller gave"),
        Column("metadata", JSONB, comment="Metadata the caller gave"),
        Column(
            "status",
            Text,
            server_default=text("'received'"),
            nullable=False,
            comment="Stage of the work, or ready, ready_with_warnings, failed, cancelled",
        ),
        _text("failed_stage", "Stage in which the last attempt failed"),
        _number("attempts", "How often the work was begun"),
        Column(
            "extracted",
            LargeBinary,
            comment="Extracted text kept for a retry from a later stage, packed; null when finished",
        ),
        Column("child_count", Integer, comment="Child chunks to embed"),
        _number("done_count", "Child chunks that have their vector by now"),
        _number("embedded_count", "Child chunks embedded anew"),
        _number("reused_count", "Child chunks with a known vector"),
        _text("outcome", "created or replaced"),
        _text("error_code", "Stable code of the last failure"),
        _text("error_message", "Reason of the last failure in words"),
        Column(
            "timings_ms",
            JSONB,
            server_default=text("'{}'::jsonb"),
            nullable=False,
            comment="Milliseconds of each step of the last attempt",
        ),
        Column("queue_job_id", BigInteger, comment="Its entry in the queue's own tables"),
        Column(
            "cancel_requested",
            Boolean,
            server_default=text("false"),
            nullable=False,
            comment="True when somebody asked to stop it",
        ),
        _time("created_at", "When the upload was accepted", default="now()"),
        _time("started_at", "When the last attempt began"),
        _time("heartbeat_at", "When the worker that has it last said so; an old one frees the job"),
        _time("finished_at", "When it came to an end"),
        CheckConstraint(
            "status in ('received', 'extracting', 'splitting', 'embedding', 'storing',"
            " 'ready', 'ready_with_warnings', 'failed', 'cancelled')",
            name="status",
        ),
        schema="rag",
        comment="One accepted upload on its way into the indexes, and what became of it",
    )
    op.create_index("job_document_id_idx", "job", ["document_id"], schema="rag")
    op.create_index("job_created_at_id_idx", "job", ["created_at", "id"], schema="rag")
    unfinished = {"postgresql_where": text("finished_at is null")}
    op.create_index("job_unfinished_idx", "job", ["collection_id"], schema="rag", **unfinished)  # type: ignore[arg-type]
