"""Schema analytics with views as a contract, searches for people at a SQL prompt, and analysts of single collections

Row-level security: roles with the rights of the table owner, the service for one, read as before. Other roles that were
given rights on these tables by hand are refused from now on; make them members of rag_analyst.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from service.db.sql_files import run_sql_file
from service.errors import Misconfigured

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# each after those that it asks
_FUNCTIONS = (
    "definers/sees_every_collection.v1.sql",
    "definers/visible_collections.v1.sql",
    "definers/searched_collections.v1.sql",
    "definers/search.v1.sql",
    "definers/similar_chunks.v1.sql",
    "procedures/grant_collection.v1.sql",
    "procedures/revoke_collection.v1.sql",
)
_VIEWS = (
    "analytics/documents.v1.sql",
    "analytics/parent_chunks.v1.sql",
    "analytics/child_chunks.v1.sql",
    "analytics/embeddings.v1.sql",
    "analytics/duplicates.v1.sql",
    "analytics/chunk_size_statistics.v1.sql",
    "analytics/ingestion_funnel.v1.sql",
    "analytics/jobs.v1.sql",
    "analytics/searches_per_day.v1.sql",
    "analytics/zero_result_queries.v1.sql",
    "analytics/slow_queries.v1.sql",
    "analytics/feedback.v1.sql",
)
_POLICIES = (
    "policies/collection.v1.sql",
    "policies/document.v1.sql",
    "policies/search_log.v1.sql",
    "policies/feedback.v1.sql",
    "policies/analyst_collection.v1.sql",
)


def upgrade() -> None:
    op.create_table(
        "analyst_collection",
        sa.Column("role_name", sa.Text(), nullable=False, comment="Role that may see the collection, and its members"),
        sa.Column("collection_id", sa.BigInteger(), nullable=False, comment="Collection that it may see"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["rag.collection.id"], name="analyst_collection_collection_id_fkey", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("role_name", "collection_id", name="analyst_collection_pkey"),
        schema="rag",
        comment="Which analysts may see which collections; rag.grant_collection and rag.revoke_collection write it",
    )
    connection = op.get_bind()
    _make_schema(connection)
    for file in (*_FUNCTIONS, *_VIEWS, *_POLICIES):
        run_sql_file(connection, file)
    run_sql_file(connection, "grants/rag_analyst.v5.sql")
    run_sql_file(connection, "grants/rag_collection_analyst.v1.sql")


def downgrade() -> None:
    for name in map(_name, _POLICIES):
        op.execute(f"drop policy visible on rag.{name}")
        op.execute(f"alter table rag.{name} disable row level security")
    for name in map(_name, reversed(_VIEWS)):
        op.execute(f"drop view analytics.{name}")
    for name in map(_name, reversed(_FUNCTIONS)):
        op.execute(f"drop function rag.{name}")
    op.drop_table("analyst_collection", schema="rag")
    # the roles stay, see their files; this is what they could still reach, and the schema may hold views of others
    op.execute("""
        do $$
        declare
            reader text;
        begin
            for reader in
                select rolname from pg_catalog.pg_roles where rolname in ('rag_analyst', 'rag_collection_analyst')
            loop
                execute format('revoke usage on schema analytics from %I', reader);
            end loop;
            if exists (select from pg_catalog.pg_roles where rolname = 'rag_collection_analyst') then
                revoke all on rag.collection, rag.document, rag.search_log from rag_collection_analyst;
                revoke usage on schema rag from rag_collection_analyst;
            end if;
        end;
        $$
    """)
    if (
        not op.get_bind()
        .exec_driver_sql(
            "select exists (select from pg_catalog.pg_class where relnamespace = 'analytics'::regnamespace)"
        )
        .scalar_one()
    ):
        op.execute("drop schema analytics")


def _make_schema(connection: sa.Connection) -> None:
    missing, allowed, role = connection.exec_driver_sql(
        "select to_regnamespace('analytics') is null, has_database_privilege(current_database(), 'create'),"
        " current_user"
    ).one()
    if not missing:
        return
    if not allowed:
        raise Misconfigured(
            f"this version has views in a schema of their own, which the role {role} may not make: let an "
            f"administrator run `create schema analytics authorization {role};` in this database, then migrate again"
        )
    op.execute("create schema analytics")
    op.execute("comment on schema analytics is 'Views for analysts; their columns stay from version to version'")


def _name(file: str) -> str:
    return file.partition("/")[2].partition(".")[0]
