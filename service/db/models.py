"""Tables of schema ``rag``, as SQLAlchemy sees them.

The two BM25 indexes and the HNSW index are made by hand in the first migration (`SEARCH_INDEXES`):
SQLAlchemy cannot describe them. Everything else here equals the migrated schema, comments included; a test says so.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql_text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SCHEMA = "rag"
BM25_INDEXES = ("child_chunk_bm25", "parent_chunk_bm25")
SEARCH_INDEXES = (*BM25_INDEXES, "child_chunk_embedding_hnsw")

_NAMES = {
    "pk": "%(table_name)s_pkey",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "ck": "%(table_name)s_%(constraint_name)s_check",
}
_NOW = sql_text("now()")
_NEW_UUID = sql_text("gen_random_uuid()")
_EMPTY_OBJECT = sql_text("'{}'::jsonb")
_EMPTY_LIST = sql_text("'[]'::jsonb")


class Model(DeclarativeBase):
    """Root of the mapped tables."""

    metadata = MetaData(schema=SCHEMA, naming_convention=_NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        bytes: LargeBinary,
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
    }


class Collection(Model):
    __tablename__ = "collection"
    __table_args__ = (
        CheckConstraint("length(name) between 1 and 200", name="name"),
        {"comment": "Named set of documents with settings of its own"},
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True, comment="Key")
    name: Mapped[str] = mapped_column(unique=True, comment="Name that callers use")
    settings: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Settings that differ from those of the service"
    )
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the collection was made")
    updated_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When its name or settings last changed")


class Document(Model):
    __tablename__ = "document"
    __table_args__ = (
        UniqueConstraint("collection_id", "source"),
        # target of child_chunk's foreign key, which keeps the copied collection_id true
        UniqueConstraint("id", "collection_id"),
        CheckConstraint(
            "status in ('received', 'extracting', 'splitting', 'embedding', 'storing', 'ready',"
            " 'ready_with_warnings', 'failed')",
            name="status",
        ),
        CheckConstraint("status not in ('ready', 'ready_with_warnings') or text is not null", name="ready_text"),
        CheckConstraint("jsonb_typeof(metadata) = 'object'", name="metadata_object"),
        CheckConstraint("size_bytes >= 0", name="size_bytes"),
        # a longer one would not fit a B-tree entry
        CheckConstraint("octet_length(source) between 1 and 2000", name="source"),
        Index(None, "sha256"),
        Index(None, "created_at", "id"),
        Index(None, "metadata", postgresql_using="gin", postgresql_ops={"metadata": "jsonb_path_ops"}),
        {"comment": "One source file or text, with its extracted text and where it stands"},
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, server_default=_NEW_UUID, comment="Public key")
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("rag.collection.id"), comment="Collection that the document belongs to"
    )
    source: Mapped[str] = mapped_column(comment="Name the caller gave, normalised; unique in the collection")
    file_name: Mapped[str] = mapped_column(comment="File name as uploaded")
    title: Mapped[str | None] = mapped_column(comment="Title given by the caller or found in the file")
    media_type: Mapped[str] = mapped_column(comment="Detected media type")
    size_bytes: Mapped[int] = mapped_column(BigInteger, comment="Size of the original in bytes")
    sha256: Mapped[bytes] = mapped_column(comment="SHA-256 of the original")
    text_sha256: Mapped[bytes | None] = mapped_column(comment="SHA-256 of the extracted text as UTF-8")
    text: Mapped[str | None] = mapped_column(
        comment="Extracted text, to which all offsets refer; null until it is ready"
    )
    text_format: Mapped[str | None] = mapped_column(comment="How the text marks structure: plain or markdown")
    blocks: Mapped[list[Any]] = mapped_column(
        server_default=_EMPTY_LIST, comment="Structural blocks with type, level, start, end and page"
    )
    pages: Mapped[list[Any]] = mapped_column(
        server_default=_EMPTY_LIST, comment="Pages, slides or sheets with number, start, end and label"
    )
    # the attribute `metadata` is taken by SQLAlchemy
    metadata_: Mapped[dict[str, Any]] = mapped_column(
        "metadata", server_default=_EMPTY_OBJECT, comment="Metadata of the caller; what filters look at"
    )
    extracted_metadata: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Metadata found in the file"
    )
    warnings: Mapped[list[Any]] = mapped_column(
        server_default=_EMPTY_LIST, comment="What the quality gate noticed: code, message and page"
    )
    object_key: Mapped[str | None] = mapped_column(comment="Key of the original in the object store")
    pending_key: Mapped[str | None] = mapped_column(
        comment="Key of an accepted upload that has not taken this version's place yet"
    )
    status: Mapped[str] = mapped_column(
        server_default=sql_text("'received'"), comment="Stage of the work, or ready, ready_with_warnings, failed"
    )
    error_code: Mapped[str | None] = mapped_column(comment="Stable code of the last failure")
    error_message: Mapped[str | None] = mapped_column(comment="Reason of the last failure in words")
    splitter_version: Mapped[str | None] = mapped_column(comment="Version of the splitter that made the chunks")
    split_settings_hash: Mapped[str | None] = mapped_column(comment="Hash of the split settings in force then")
    extractor: Mapped[str | None] = mapped_column(comment="Name of the extractor that read the file")
    extractor_version: Mapped[str | None] = mapped_column(comment="Version of that extractor")
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the source was first taken in")
    updated_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the document last changed")


def _span_checks() -> tuple[CheckConstraint, ...]:
    return (
        CheckConstraint("ordinal >= 0", name="ordinal"),
        CheckConstraint("start_offset >= 0 and start_offset < end_offset", name="span"),
        CheckConstraint("first_page <= last_page", name="pages"),
    )


class ParentChunk(Model):
    __tablename__ = "parent_chunk"
    __table_args__ = (
        UniqueConstraint("document_id", "ordinal"),
        *_span_checks(),
        {"comment": "Large chunk that gives the context; what a search returns"},
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True, comment="Key, and BM25 key")
    chunk_id: Mapped[UUID] = mapped_column(unique=True, server_default=_NEW_UUID, comment="Public key")
    document_id: Mapped[UUID] = mapped_column(
        ForeignKey("rag.document.id", ondelete="CASCADE"), comment="Document it is cut from"
    )
    ordinal: Mapped[int] = mapped_column(comment="Position among the parent chunks of the document, from 0")
    content: Mapped[str] = mapped_column(comment="The document's text from start_offset to end_offset")
    heading_path: Mapped[list[str]] = mapped_column(
        ARRAY(Text), server_default=sql_text("'{}'::text[]"), comment="Headings above it, outermost first"
    )
    start_offset: Mapped[int] = mapped_column(comment="First code point in the document's text, from 0")
    end_offset: Mapped[int] = mapped_column(comment="Code point after the last one")
    first_page: Mapped[int | None] = mapped_column(comment="Page of its start, from 1")
    last_page: Mapped[int | None] = mapped_column(comment="Page of its end")
    token_estimate: Mapped[int] = mapped_column(
        server_default=sql_text("0"), comment="Estimated or counted tokens of the content"
    )


class ChildChunk(Model):
    __tablename__ = "child_chunk"
    __table_args__ = (
        UniqueConstraint("document_id", "ordinal"),
        ForeignKeyConstraint(
            ["document_id", "collection_id"], ["rag.document.id", "rag.document.collection_id"], ondelete="CASCADE"
        ),
        *_span_checks(),
        Index(None, "parent_id"),
        Index(None, "collection_id"),
        {"comment": "Small chunk that is searched; brings its parent chunk"},
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True, comment="Key, and BM25 key")
    chunk_id: Mapped[UUID] = mapped_column(unique=True, server_default=_NEW_UUID, comment="Public key")
    parent_id: Mapped[int] = mapped_column(
        ForeignKey("rag.parent_chunk.id", ondelete="CASCADE"), comment="Parent chunk that contains it"
    )
    document_id: Mapped[UUID] = mapped_column(comment="Document it is cut from; copied here for filtered searches")
    collection_id: Mapped[int] = mapped_column(
        BigInteger, comment="Collection of the document; copied here for filtered searches"
    )
    ordinal: Mapped[int] = mapped_column(comment="Position among the child chunks of the document, from 0")
    content: Mapped[str] = mapped_column(comment="The document's text from start_offset to end_offset")
    start_offset: Mapped[int] = mapped_column(comment="First code point in the document's text, from 0")
    end_offset: Mapped[int] = mapped_column(comment="Code point after the last one")
    first_page: Mapped[int | None] = mapped_column(comment="Page of its start, from 1")
    last_page: Mapped[int | None] = mapped_column(comment="Page of its end")
    embedding_prefix: Mapped[str] = mapped_column(
        server_default=sql_text("''"),
        comment="Text embedded before the content: the header row of a table that was cut",
    )
    inner_path: Mapped[list[str]] = mapped_column(
        ARRAY(Text),
        server_default=sql_text("'{}'::text[]"),
        comment="Headings between the heading path of its parent chunk and itself, outermost first",
    )
    # the migrated column has the dimension of the active model; above 2,000 it is halfvec
    embedding: Mapped[Any] = mapped_column(VECTOR(), nullable=False, comment="Vector of the active embedding model")


class EmbeddingModelRow(Model):
    __tablename__ = "embedding_model"
    __table_args__ = (
        UniqueConstraint("provider", "name", "dimension"),
        CheckConstraint("dimension between 1 and 4000", name="dimension"),
        CheckConstraint("not (active and standby)", name="one_space"),
        Index("embedding_model_active_idx", "active", unique=True, postgresql_where=sql_text("active")),
        Index("embedding_model_standby_idx", "standby", unique=True, postgresql_where=sql_text("standby")),
        {"comment": "Models whose vectors are or were stored here; at most one is active, and one other on standby"},
    )

    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True, comment="Key")
    provider: Mapped[str] = mapped_column(comment="Adapter that calls the model")
    name: Mapped[str] = mapped_column(comment="Name of the model at the provider")
    dimension: Mapped[int] = mapped_column(comment="Numbers in a vector")
    active: Mapped[bool] = mapped_column(
        server_default=sql_text("false"), comment="True for the model of child_chunk.embedding"
    )
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the model was entered")
    standby: Mapped[bool] = mapped_column(
        server_default=sql_text("false"),
        comment="True for the model of child_chunk.embedding_standby, which `fuzi reembed` fills or keeps",
    )
    send_dimension: Mapped[bool] = mapped_column(
        server_default=sql_text("false"), comment="True when the provider has to be asked for this dimension"
    )
    base_url: Mapped[str | None] = mapped_column(
        comment="URL of the provider, when it is not the one that its adapter knows"
    )
    activated_at: Mapped[datetime | None] = mapped_column(
        comment="When searches began to use its vectors, the last time; null for never"
    )


class EmbeddingCache(Model):
    __tablename__ = "embedding_cache"
    __table_args__ = (
        CheckConstraint("octet_length(text_sha256) = 32", name="text_sha256"),
        {"comment": "Vectors of texts that were embedded before, so that nothing is paid for twice"},
    )

    model_id: Mapped[int] = mapped_column(
        ForeignKey("rag.embedding_model.id", ondelete="CASCADE"), primary_key=True, comment="Model that made the vector"
    )
    text_sha256: Mapped[bytes] = mapped_column(primary_key=True, comment="SHA-256 of the embedded text as UTF-8")
    embedding: Mapped[Any] = mapped_column(VECTOR(), nullable=False, comment="Vector, of the model's dimension")
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the text was embedded")
