"""Tables around searches, as SQLAlchemy sees them: log, feedback, analysts, state of the corpus and of its indexes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, ForeignKey, Identity, Index, UniqueConstraint, Uuid
from sqlalchemy import text as sql_text
from sqlalchemy.orm import Mapped, mapped_column

from service.db.models import Model

_NOW = sql_text("now()")
_EMPTY_OBJECT = sql_text("'{}'::jsonb")
_EMPTY_LIST = sql_text("'[]'::jsonb")
_NEW_UUID = sql_text("gen_random_uuid()")


class SearchLog(Model):
    __tablename__ = "search_log"
    __table_args__ = (Index(None, "searched_at"), {"comment": "Searches that were run, when logging is on"})

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True, comment="Key")
    searched_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the search ended")
    query: Mapped[str] = mapped_column(comment="Query text as sent")
    parameters: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Parameters in force: top_n, candidates, weights, rrf_k, filters"
    )
    timings_ms: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Milliseconds of each step"
    )
    result_chunk_ids: Mapped[list[UUID]] = mapped_column(
        ARRAY(Uuid), server_default=sql_text("'{}'::uuid[]"), comment="Parents returned, best first"
    )
    warnings: Mapped[list[Any]] = mapped_column(server_default=_EMPTY_LIST, comment="What was missing or degraded")
    search_id: Mapped[UUID | None] = mapped_column(
        unique=True, server_default=_NEW_UUID, comment="Public key, as the answer names it; null for searches of before"
    )


class Feedback(Model):
    __tablename__ = "feedback"
    __table_args__ = (
        UniqueConstraint("search_id", "chunk_id"),
        CheckConstraint("verdict in ('good', 'bad')", name="verdict"),
        Index(None, "collection_id"),
        {"comment": "What people think of passages that searches returned, one row a passage of a search"},
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True, comment="Key")
    search_id: Mapped[UUID] = mapped_column(comment="Search that returned the passage; may not be logged")
    chunk_id: Mapped[UUID] = mapped_column(comment="Parent chunk that was judged; may be replaced since")
    verdict: Mapped[str] = mapped_column(comment="good or bad")
    comment: Mapped[str | None] = mapped_column(comment="What the person said about it")
    query: Mapped[str | None] = mapped_column(comment="Query text, as the caller of the feedback sent it")
    collection_id: Mapped[int | None] = mapped_column(
        ForeignKey("rag.collection.id", ondelete="CASCADE"),
        comment="Collection of the document; null when it was gone",
    )
    document_id: Mapped[UUID | None] = mapped_column(comment="Document of the passage; may be deleted since")
    source: Mapped[str | None] = mapped_column(comment="Source of the document then")
    content: Mapped[str | None] = mapped_column(comment="Text of the passage then")
    judged_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When it was judged, the last time")


class AnalystCollection(Model):
    __tablename__ = "analyst_collection"
    __table_args__ = (
        {
            "comment": "Which analysts may see which collections;"
            " rag.grant_collection and rag.revoke_collection write it"
        },
    )

    role_name: Mapped[str] = mapped_column(
        primary_key=True, comment="Role that may see the collection, and its members"
    )
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("rag.collection.id", ondelete="CASCADE"), primary_key=True, comment="Collection that it may see"
    )


class Bm25Sentinel(Model):
    __tablename__ = "bm25_sentinel"
    __table_args__ = (
        {
            "prefixes": ["UNLOGGED"],
            "comment": "A row says that a BM25 index is whole; PostgreSQL empties the table in crash recovery",
        },
    )

    index_name: Mapped[str] = mapped_column(primary_key=True, comment="BM25 index, without its schema")
    written_at: Mapped[datetime] = mapped_column(
        server_default=_NOW, comment="When the index was last known to be whole"
    )


class Corpus(Model):
    __tablename__ = "corpus"
    __table_args__ = (
        CheckConstraint("only_row", name="only_row"),
        {"comment": "State of all that is searched: at one revision a search always has the same answer"},
    )

    only_row: Mapped[bool] = mapped_column(
        primary_key=True, server_default=sql_text("true"), comment="There is one row"
    )
    revision: Mapped[int] = mapped_column(
        BigInteger,
        server_default=sql_text("1"),
        comment="Goes up with every change of what searches can find, or of how they order it",
    )
