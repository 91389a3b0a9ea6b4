"""Frozen values that cross from one room to the next.

All character offsets in this package count Unicode code points of the stored
extracted text and are half open: ``[start, end)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

type JsonObject = Mapping[str, Any]
type Vector = NDArray[np.float32]  # one embedding, shape [dimension]
type VectorBatch = NDArray[np.float32]  # embeddings of several texts, shape [text_count, dimension]


class DocumentStatus(StrEnum):
    """Where a document stands; the last three are final."""

    RECEIVED = "received"
    EXTRACTING = "extracting"
    SPLITTING = "splitting"
    EMBEDDING = "embedding"
    STORING = "storing"
    READY = "ready"
    READY_WITH_WARNINGS = "ready_with_warnings"
    FAILED = "failed"


class BlockType(StrEnum):
    """Kind of a structural block of an extracted text."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    FOOTNOTE = "footnote"


class TextFormat(StrEnum):
    """How the extracted text marks its structure."""

    PLAIN = "plain"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Block:
    """One structural block; ``level`` is 1 to 6 for headings, the nesting depth (from 0) for list items, else 0."""

    type: BlockType
    level: int
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page, slide or sheet; ``number`` starts at 1, ``label`` is a sheet name or slide title if known."""

    number: int
    start: int
    end: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning that does not stop the work; ``page`` names the page it concerns, if one."""

    code: str
    message: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """Clean text of one document with its structure and where it came from."""

    text: str
    format: TextFormat
    media_type: str
    blocks: tuple[Block, ...] = ()
    pages: tuple[Page, ...] = ()
    title: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    extractor: str = ""
    extractor_version: str = ""

    @property
    def status(self) -> DocumentStatus:
        """``ready``, or ``ready_with_warnings`` when the quality gate noticed something."""
        return DocumentStatus.READY_WITH_WARNINGS if self.warnings else DocumentStatus.READY


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """A file to read: where its bytes are, its name for type detection, and what the sender called it.

    ``reflow`` overrides the setting of that name for this file (a collection may switch it off).
    """

    path: Path
    file_name: str
    declared_type: str | None = None
    reflow: bool | None = None


@dataclass(frozen=True, slots=True)
class ParentSpan:
    """A parent chunk; ``heading_path`` runs from the outermost heading to the innermost."""

    ordinal: int
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    first_page: int | None = None
    last_page: int | None = None
    token_estimate: int = 0


@dataclass(frozen=True, slots=True)
class ChildSpan:
    """A child chunk of the parent with ordinal ``parent``; ``embedding_prefix`` is embedded before its content."""

    ordinal: int
    parent: int
    start: int
    end: int
    first_page: int | None = None
    last_page: int | None = None
    embedding_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Chunks:
    """What a text was split into. ``strategy`` is the one that ran (never ``auto``)."""

    strategy: Literal["sentence", "structure"]
    parents: tuple[ParentSpan, ...]
    children: tuple[ChildSpan, ...]
    settings_hash: str
    splitter_version: str


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Identity of an embedding model; two models with unequal identity never share a vector space."""

    provider: str
    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """One file to take in. ``source`` is the caller's name of the document, unique in its collection."""

    path: Path
    source: str
    file_name: str
    collection: str = "default"
    declared_type: str | None = None
    title: str | None = None
    metadata: JsonObject | None = None


class IngestOutcome(StrEnum):
    """What an ingestion did to the stored document; ``updated`` changed only its title or metadata."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class IngestResult:
    """Result of one ingestion; ``timings_ms`` has a key per step (``extract_ms``, ``split_ms``, …)."""

    document_id: UUID
    source: str
    collection: str
    outcome: IngestOutcome
    status: DocumentStatus
    parent_count: int
    child_count: int
    warnings: tuple[Notice, ...] = ()
    duplicate_of: UUID | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    job_id: UUID | None = None
    embedded_count: int = 0
    reused_count: int = 0


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Restriction of a search; every given part must hold. Times are compared with ``>=`` and ``<``."""

    document_ids: Sequence[UUID] | None = None
    sources: Sequence[str] | None = None
    media_types: Sequence[str] | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    updated_from: datetime | None = None
    updated_before: datetime | None = None
    metadata: JsonObject | None = None

    @property
    def is_empty(self) -> bool:
        """True when nothing is restricted."""
        return all(getattr(self, name) is None for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search: ``candidates`` counts child chunks per leg, ``top_n`` passages; weight 0 skips a leg."""

    query: str
    top_n: int
    candidates: int
    vector_weight: float
    fts_weight: float
    rrf_k: int
    rerank: bool = True
    collections: Sequence[str] | None = None
    filters: DocumentFilter = field(default_factory=DocumentFilter)
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A child chunk that at least one leg found. Ranks start at 1; ``None`` means that leg did not return it."""

    child_id: int
    parent_id: int
    vector_rank: int | None
    vector_distance: float | None
    fts_rank: int | None
    fts_score: float | None
    rrf_score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A child chunk that brought its passage, with its span in the document's text."""

    chunk_id: UUID
    start: int
    end: int
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Passage:
    """A parent chunk with the child chunks that brought it, best child first.

    ``rrf_score`` is that of the best child. ``rank_before_rerank`` starts at 1.
    """

    chunk_id: UUID
    parent_id: int
    document_id: UUID
    collection: str
    source: str
    title: str | None
    media_type: str
    metadata: JsonObject
    content: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    first_page: int | None
    last_page: int | None
    rrf_score: float
    hits: tuple[Hit, ...]
    rank_before_rerank: int
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages in final order, with what happened on the way."""

    passages: tuple[Passage, ...]
    timings_ms: Mapping[str, float]
    warnings: tuple[Notice, ...]
    explanation: JsonObject | None = None
