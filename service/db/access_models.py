"""Tables of who may use the service and what they did, as SQLAlchemy sees them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, ForeignKey, Identity, Index, Text
from sqlalchemy import text as sql_text
from sqlalchemy.orm import Mapped, mapped_column

from service.db.models import Model

_NOW = sql_text("now()")
_NEW_UUID = sql_text("gen_random_uuid()")


class ApiKey(Model):
    __tablename__ = "api_key"
    __table_args__ = (
        CheckConstraint("length(name) between 1 and 100", name="name"),
        CheckConstraint("octet_length(key_sha256) = 32", name="key_sha256"),
        CheckConstraint(
            "cardinality(scopes) > 0 and scopes <@ array['read', 'write', 'admin']::text[]",
            name="scopes",
        ),
        {"comment": "Keys of the service, without the keys themselves; one that was made is revoked, never deleted"},
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=_NEW_UUID, comment="Public key")
    name: Mapped[str] = mapped_column(comment="Whose it is, for people; one that is valid has it, or two in a rotation")
    prefix: Mapped[str] = mapped_column(comment="First characters of the key, to tell keys apart")
    key_sha256: Mapped[bytes] = mapped_column(unique=True, comment="SHA-256 of the key")
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text), comment="read, write, admin: each includes those before it")
    collections: Mapped[list[str] | None] = mapped_column(
        ARRAY(Text), comment="Names of the collections that it may see; null for all"
    )
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When it was made")
    expires_at: Mapped[datetime | None] = mapped_column(comment="When it stops to be valid by itself; null for never")
    revoked_at: Mapped[datetime | None] = mapped_column(comment="When it was revoked; null while it is not")
    last_used_at: Mapped[datetime | None] = mapped_column(
        comment="When it was last seen, to the minute; null for never"
    )
    replaced_by: Mapped[UUID | None] = mapped_column(
        ForeignKey("rag.api_key.id"), comment="The key that took its place in a rotation"
    )


class AuditEntry(Model):
    __tablename__ = "audit_log"
    __table_args__ = (
        Index(None, "at"),
        CheckConstraint("outcome in ('done', 'refused', 'failed')", name="outcome"),
        {"comment": "Who changed something, or tried to, through the REST service or with fuzi keys"},
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True, comment="Key")
    at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When it ended")
    key_id: Mapped[UUID | None] = mapped_column(comment="Key that was used; null where none was needed")
    key_name: Mapped[str] = mapped_column(comment="Name of the key, or who it was without one")
    action: Mapped[str] = mapped_column(comment="Method and route, such as DELETE /v1/documents/{document_id}")
    target: Mapped[str] = mapped_column(comment="What it was done to: path of the request, or of what it made")
    request_id: Mapped[str | None] = mapped_column(comment="The same as in the log; null on the command line")
    outcome: Mapped[str] = mapped_column(comment="done, refused (not allowed, or not valid), failed")
    status: Mapped[int | None] = mapped_column(comment="HTTP status of the answer; null on the command line")
