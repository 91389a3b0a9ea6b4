"""Tables

The embedding model, and with it the dimension of the vectors, is that of the settings at this moment.
Constraints get their names from the naming convention of `service.db.models`.
"""

from __future__ import annotations

from typing import Any

from alembic import context, op
from pgvector.sqlalchemy import HALFVEC, VECTOR
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Identity,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
    Uuid,
    column,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import NullType, TypeEngine

from service.config import EmbedSettings
from service.db.extensions import ensure_extensions
from service.errors import Misconfigured

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# dimensions that an HNSW index of pgvector can hold
_MAX_VECTOR = 2000
_MAX_HALFVEC = 4000
# A row with its vector in line has to fit a page (8,160 bytes); the other columns take up to 160 bytes when the
# content is moved out.
_MAX_INLINE_BYTES = 7600

type _Kind = type[TypeEngine[Any]] | TypeEngine[Any]


def upgrade() -> None:
    embed: EmbedSettings = context.config.attributes["settings"].embed
    embedding = _embedding_type(embed.dimension)
    ensure_extensions(op.get_bind())
    _collection()
    _embedding_model(embed)
    _embedding_cache()
    _document()
    _parent_chunk()
    _child_chunk(embedding)
    _search_log()
    _bm25_sentinel()


def downgrade() -> None:
    for name in ("bm25_sentinel", "search_log", "child_chunk", "parent_chunk", "document"):
        op.drop_table(name, schema="rag")
    for name in ("embedding_cache", "embedding_model", "collection"):
        op.drop_table(name, schema="rag")


def _embedding_type(dimension: int) -> VECTOR | HALFVEC:
    """Type of the vectors of child chunks; halfvec has two bytes a number, accurate enough for ranking."""
    if dimension > _MAX_HALFVEC:
        raise Misconfigured(
            f"{dimension} dimensions are too many, an HNSW index holds up to {_MAX_HALFVEC}: "
            "set FUZI_EMBED__DIMENSION to less if the model can shorten its vectors, or take another model"
        )
    return VECTOR(dimension) if dimension <= _MAX_VECTOR else HALFVEC(dimension)


def _column(name: str, kind: _Kind, comment: str, default: str | None = None, *, null: bool = False) -> Column[Any]:
    server_default = None if default is None else text(default)
    return Column(name, kind, server_default=server_default, nullable=null, comment=comment)


def _key(kind: _Kind, comment: str) -> Column[Any]:
    return Column("id", kind, Identity(always=True), primary_key=True, comment=comment)


def _json(name: str, default: str, comment: str) -> Column[Any]:
    return _column(name, JSONB(), comment, f"'{default}'::jsonb")


def _time(name: str, comment: str) -> Column[Any]:
    return _column(name, DateTime(timezone=True), comment, "now()")


def _collection() -> None:
    op.create_table(
        "collection",
        _key(BigInteger, "Key"),
        _column("name", Text, "Name that callers use"),
        _json("settings", "{}", "Settings that differ from those of the service"),
        _time("created_at", "When the collection was made"),
        _time("updated_at", "When its name or settings last changed"),
        UniqueConstraint("name"),
        CheckConstraint("length(name) between 1 and 200", name="name"),
        schema="rag",
        comment="Named set of documents with settings of its own",
    )


def _embedding_model(embed: EmbedSettings) -> None:
    op.create_table(
        "embedding_model",
        _key(Integer, "Key"),
        _column("provider", Text, "Adapter that calls the model"),
        _column("name", Text, "Name of the model at the provider"),
        _column("dimension", Integer, "Numbers in a vector"),
        _column("active", Boolean, "True for the model of child_chunk.embedding", "false"),
        _time("created_at", "When the model was entered"),
        UniqueConstraint("provider", "name", "dimension"),
        CheckConstraint("dimension between 1 and 4000", name="dimension"),
        schema="rag",
        comment="Embedding models whose vectors are or were stored here; at most one is active",
    )
    only_active: dict[str, Any] = {"unique": True, "postgresql_where": text("active")}
    op.create_index("embedding_model_active_idx", "embedding_model", ["active"], schema="rag", **only_active)
    row = {"provider": embed.provider, "name": embed.model, "dimension": embed.dimension, "active": True}
    op.bulk_insert(table("embedding_model", *(column(name, NullType()) for name in row), schema="rag"), [row])


def _embedding_cache() -> None:
    op.create_table(
        "embedding_cache",
        Column("model_id", Integer, primary_key=True, comment="Model that made the vector"),
        Column("text_sha256", LargeBinary, primary_key=True, comment="SHA-256 of the embedded text as UTF-8"),
        _column("embedding", VECTOR(), "Vector, of the model's dimension"),
        _time("created_at", "When the text was embedded"),
        ForeignKeyConstraint(["model_id"], ["rag.embedding_model.id"], ondelete="CASCADE"),
        CheckConstraint("octet_length(text_sha256) = 32", name="text_sha256"),
        schema="rag",
        comment="Vectors of texts that were embedded before, so that nothing is paid for twice",
    )


def _document() -> None:
    op.create_table(
        "document",
        Column("id", Uuid, server_default=text("gen_random_uuid()"), primary_key=True, comment="Public key"),
        _column("collection_id", BigInteger, "Collection that the document belongs to"),
        _column("source", Text, "Name the caller gave, normalised; unique in the collection"),
        _column("file_name", Text, "File name as uploaded"),
        _column("title", Text, "Title given by the caller or found in the file", null=True),
        _column("media_type", Text, "Detected media type"),
        _column("size_bytes", BigInteger, "Size of the original in bytes"),
        _column("sha256", LargeBinary, "SHA-256 of the original"),
        _column("text_sha256", LargeBinary, "SHA-256 of the extracted text as UTF-8", null=True),
        _column("text", Text, "Extracted text, to which all offsets refer; null until it is ready", null=True),
        _column("text_format", Text, "How the text marks structure: plain or markdown", null=True),
        _json("blocks", "[]", "Structural blocks with type, level, start, end and page"),
        _json("pages", "[]", "Pages, slides or sheets with number, start, end and label"),
        _json("metadata", "{}", "Metadata of the caller; what filters look at"),
        _json("extracted_metadata", "{}", "Metadata found in the file"),
        _json("warnings", "[]", "What the quality gate noticed: code, message and page"),
        _column("object_key", Text, "Key of the original in the object store", null=True),
        _column(
            "pending_key", Text, "Key of an accepted upload that has not taken this version's place yet", null=True
        ),
        _column("status", Text, "Stage of the work, or ready, ready_with_warnings, failed", "'received'"),
        _column("error_code", Text, "Stable code of the last failure", null=True),
        _column("error_message", Text, "Reason of the last failure in words", null=True),
        _column("splitter_version", Text, "Version of the splitter that made the chunks", null=True),
        _column("split_settings_hash", Text, "Hash of the split settings in force then", null=True),
        _column("extractor", Text, "Name of the extractor that read the file", null=True),
        _column("extractor_version", Text, "Version of that extractor", null=True),
        _time("created_at", "When the source was first taken in"),
        _time("updated_at", "When the document last changed"),
        ForeignKeyConstraint(["collection_id"], ["rag.collection.id"]),
        UniqueConstraint("collection_id", "source"),
        UniqueConstraint("id", "collection_id"),
        CheckConstraint(
            "status in ('received', 'extracting', 'splitting', 'embedding', 'storing', 'ready',"
            " 'ready_with_warnings', 'failed')",
            name="status",
        ),
        CheckConstraint("status not in ('ready', 'ready_with_warnings') or text is not null", name="ready_text"),
        CheckConstraint("jsonb_typeof(metadata) = 'object'", name="metadata_object"),
        CheckConstraint("octet_length(source) between 1 and 2000", name="source"),
        CheckConstraint("size_bytes >= 0", name="size_bytes"),
        schema="rag",
        comment="One source file or text, with its extracted text and where it stands",
    )
    op.create_index("document_sha256_idx", "document", ["sha256"], schema="rag")
    op.create_index("document_created_at_id_idx", "document", ["created_at", "id"], schema="rag")
    gin: dict[str, Any] = {"postgresql_using": "gin", "postgresql_ops": {"metadata": "jsonb_path_ops"}}
    op.create_index("document_metadata_idx", "document", ["metadata"], schema="rag", **gin)


def _span() -> tuple[Column[Any] | CheckConstraint, ...]:
    return (
        _column("start_offset", Integer, "First code point in the document's text, from 0"),
        _column("end_offset", Integer, "Code point after the last one"),
        _column("first_page", Integer, "Page of its start, from 1", null=True),
        _column("last_page", Integer, "Page of its end", null=True),
        CheckConstraint("ordinal >= 0", name="ordinal"),
        CheckConstraint("start_offset >= 0 and start_offset < end_offset", name="span"),
        CheckConstraint("first_page <= last_page", name="pages"),
    )


def _parent_chunk() -> None:
    op.create_table(
        "parent_chunk",
        _key(BigInteger, "Key, and BM25 key"),
        _column("chunk_id", Uuid, "Public key", "gen_random_uuid()"),
        _column("document_id", Uuid, "Document it is cut from"),
        _column("ordinal", Integer, "Position among the parent chunks of the document, from 0"),
        _column("content", Text, "The document's text from start_offset to end_offset"),
        _column("heading_path", ARRAY(Text), "Headings above it, outermost first", "'{}'::text[]"),
        *_span(),
        _column("token_estimate", Integer, "Estimated or counted tokens of the content", "0"),
        ForeignKeyConstraint(["document_id"], ["rag.document.id"], ondelete="CASCADE"),
        UniqueConstraint("chunk_id"),
        UniqueConstraint("document_id", "ordinal"),
        schema="rag",
        comment="Large chunk that gives the context; what a search returns",
    )


def _child_chunk(embedding: VECTOR | HALFVEC) -> None:
    document = ["rag.document.id", "rag.document.collection_id"]
    op.create_table(
        "child_chunk",
        _key(BigInteger, "Key, and BM25 key"),
        _column("chunk_id", Uuid, "Public key", "gen_random_uuid()"),
        _column("parent_id", BigInteger, "Parent chunk that contains it"),
        _column("document_id", Uuid, "Document it is cut from; copied here for filtered searches"),
        _column("collection_id", BigInteger, "Collection of the document; copied here for filtered searches"),
        _column("ordinal", Integer, "Position among the child chunks of the document, from 0"),
        _column("content", Text, "The document's text from start_offset to end_offset"),
        *_span(),
        _column("embedding", embedding, "Vector of the active embedding model"),
        ForeignKeyConstraint(["document_id", "collection_id"], document, ondelete="CASCADE"),
        ForeignKeyConstraint(["parent_id"], ["rag.parent_chunk.id"], ondelete="CASCADE"),
        UniqueConstraint("chunk_id"),
        UniqueConstraint("document_id", "ordinal"),
        schema="rag",
        comment="Small chunk that is searched; brings its parent chunk",
    )
    op.create_index("child_chunk_parent_id_idx", "child_chunk", ["parent_id"], schema="rag")
    op.create_index("child_chunk_collection_id_idx", "child_chunk", ["collection_id"], schema="rag")
    number_bytes = 4 if isinstance(embedding, VECTOR) else 2
    # numbers do not compress; where a row fits a page they stay in it, so that comparing rows needs no second look-up
    storage = "plain" if (embedding.dim or 0) * number_bytes <= _MAX_INLINE_BYTES else "external"
    op.execute(f"alter table rag.child_chunk alter column embedding set storage {storage}")


def _search_log() -> None:
    op.create_table(
        "search_log",
        _key(BigInteger, "Key"),
        _time("searched_at", "When the search ended"),
        _column("query", Text, "Query text as sent"),
        _json("parameters", "{}", "Parameters in force: top_n, candidates, weights, rrf_k, filters"),
        _json("timings_ms", "{}", "Milliseconds of each step"),
        _column("result_chunk_ids", ARRAY(Uuid), "Parents returned, best first", "'{}'::uuid[]"),
        _json("warnings", "[]", "What was missing or degraded"),
        schema="rag",
        comment="Searches that were run, when logging is on",
    )
    op.create_index("search_log_searched_at_idx", "search_log", ["searched_at"], schema="rag")


def _bm25_sentinel() -> None:
    op.create_table(
        "bm25_sentinel",
        Column("index_name", Text, primary_key=True, comment="BM25 index, without its schema"),
        _time("written_at", "When the index was last known to be whole"),
        schema="rag",
        prefixes=["UNLOGGED"],
        comment="A row says that a BM25 index is whole; PostgreSQL empties the table in crash recovery",
    )
