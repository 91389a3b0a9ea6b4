"""Views of jobs for the analysts"""

from __future__ import annotations

from alembic import op

from service.db.sql_files import run_sql_file

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    run_sql_file(connection, "views/jobs_overview.v1.sql")
    run_sql_file(connection, "views/ingestion_funnel.v1.sql")
    run_sql_file(connection, "grants/rag_analyst.v2.sql")


def downgrade() -> None:
    op.execute("drop view rag.ingestion_funnel")
    op.execute("drop view rag.jobs_overview")
