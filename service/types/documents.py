"""Documents on their way in: extracted text, chunks, ingestion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal
from uuid import UUID

from service.types.values import JsonObject


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
    """A child chunk of the parent with ordinal ``parent``; ``embedding_prefix`` is embedded before its content.

    ``inner_path`` are the headings between the parent's heading path and the child, where a parent joins sections.
    """

    ordinal: int
    parent: int
    start: int
    end: int
    first_page: int | None = None
    last_page: int | None = None
    embedding_prefix: str = ""
    inner_path: tuple[str, ...] = ()


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
