"""API keys, and a log of who changed what

Analysts see neither table: the grants of their role name what it reads.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _api_key()
    _audit_log()


def downgrade() -> None:
    for name in ("audit_log", "api_key"):
        op.drop_table(name, schema="rag")


def _api_key() -> None:
    op.create_table(
        "api_key",
        Column("id", Uuid, server_default=text("gen_random_uuid()"), primary_key=True, comment="Public key"),
        _text("name", "Whose it is, for people; one that is valid has it, or two in a rotation"),
        _text("prefix", "First characters of the key, to tell keys apart"),
        Column("key_sha256", LargeBinary, nullable=False, comment="SHA-256 of the key"),
        Column("scopes", ARRAY(Text), nullable=False, comment="read, write, admin: each includes those before it"),
        Column("collections", ARRAY(Text), comment="Names of the collections that it may see; null for all"),
        _time("created_at", "When it was made", default="now()"),
        _time("expires_at", "When it stops to be valid by itself; null for never"),
        _time("revoked_at", "When it was revoked; null while it is not"),
        _time("last_used_at", "When it was last seen, to the minute; null for never"),
        Column(
            "replaced_by",
            Uuid,
            ForeignKey("rag.api_key.id", name="api_key_replaced_by_fkey"),
            comment="The key that took its place in a rotation",
        ),
        UniqueConstraint("key_sha256", name="api_key_key_sha256_key"),
        CheckConstraint("length(name) between 1 and 100", name="api_key_name_check"),
        CheckConstraint("octet_length(key_sha256) = 32", name="api_key_key_sha256_check"),
        CheckConstraint(
            "cardinality(scopes) > 0 and scopes <@ array['read', 'write', 'admin']::text[]", name="api_key_scopes_check"
        ),
        schema="rag",
        comment="Keys of the service, without the keys themselves; one that was made is revoked, never deleted",
    )


def _audit_log() -> None:
    op.create_table(
        "audit_log",
        Column("id", BigInteger, Identity(always=True), primary_key=True, comment="Key"),
        _time("at", "When it ended", default="now()"),
        Column("key_id", Uuid, comment="Key that was used; null where none was needed"),
        _text("key_name", "Name of the key, or who it was without one"),
        _text("action", "Method and route, such as DELETE /v1/documents/{document_id}"),
        _text("target", "What it was done to: path of the request, or of what it made"),
        _text("request_id", "The same as in the log; null on the command line", null=True),
        _text("outcome", "done, refused (not allowed, or not valid), failed"),
        Column("status", Integer, comment="HTTP status of the answer; null on the command line"),
        CheckConstraint("outcome in ('done', 'refused', 'failed')", name="audit_log_outcome_check"),
        schema="rag",
        comment="Who changed something, or tried to, through the REST service or with fuzi keys",
    )
    op.create_index("audit_log_at_idx", "audit_log", ["at"], schema="rag")


def _text(name: str, comment: str, *, null: bool = False) -> Column[str]:
    return Column(name, Text, nullable=null, comment=comment)


def _time(name: str, comment: str, default: str | None = None) -> Column[object]:
    server_default = None if default is None else text(default)
    return Column(
        name, DateTime(timezone=True), server_default=server_default, nullable=default is None, comment=comment
    )
