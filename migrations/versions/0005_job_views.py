"""Views of jobs for the analysts, and an index of dead letters"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from service.db.sql_files import run_sql_file

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    dead = {"postgresql_where": text("status = 'failed'")}
    op.create_index("job_dead_letter_idx", "job", ["collection_id"], schema="rag", **dead)  # type: ignore[arg-type]
    connection = op.get_bind()
    run_sql_file(connection, "views/jobs_overview.v1.sql")
    run_sql_file(connection, "views/ingestion_funnel.v1.sql")
    run_sql_file(connection, "grants/rag_analyst.v2.sql")


def downgrade() -> None:
    op.execute("drop view rag.ingestion_funnel")
    op.execute("drop view rag.jobs_overview")
    op.drop_index("job_dead_letter_idx", "job", schema="rag")
