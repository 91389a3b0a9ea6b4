"""Views and the role of the analysts"""

from __future__ import annotations

from alembic import op

from service.db.sql_files import run_sql_file

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    run_sql_file(connection, "views/documents_overview.v1.sql")
    run_sql_file(connection, "views/parent_chunks_overview.v1.sql")
    run_sql_file(connection, "views/child_chunks_overview.v1.sql")
    run_sql_file(connection, "views/index_health.v1.sql")
    run_sql_file(connection, "grants/rag_analyst.v1.sql")


def downgrade() -> None:
    op.execute("drop view rag.index_health")
    op.execute("drop view rag.child_chunks_overview")
    op.execute("drop view rag.parent_chunks_overview")
    op.execute("drop view rag.documents_overview")
    # the role stays, see its file; this is what it could still reach
    op.execute("""
        do $$
        begin
            if exists (select from pg_catalog.pg_roles where rolname = 'rag_analyst') then
                revoke usage on schema rag from rag_analyst;
            end if;
        end;
        $$
    """)
