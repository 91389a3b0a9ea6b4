"""Lines of an exported collection. Field names are part of its format: docs/operating.md describes them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from service.config.ingestion import with_context
from service.errors import InvalidArchive
from service.types import ChildSpan, Chunks, ExtractedText, JsonObject, ParentSpan, VectorBatch

VECTOR_BYTES = np.dtype("<f4")
"""A vector travels as little-endian float32, one number after the other."""


@dataclass(frozen=True, slots=True)
class PortableDocument:
    """The served version of a document; digests are SHA-256 in hexadecimal digits."""

    document_id: UUID
    source: str
    file_name: str
    size_bytes: int
    sha256: str
    text_sha256: str
    title: str | None
    metadata: JsonObject
    extracted: ExtractedText
    splitter_version: str
    split_settings_hash: str
    parent_count: int
    child_count: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class PortableParent:
    """A parent chunk; ``content`` is the document's text in ``[start, end)``, in code points."""

    document_id: UUID
    chunk_id: UUID
    ordinal: int
    start: int
    end: int
    content: str
    heading_path: tuple[str, ...]
    first_page: int | None
    last_page: int | None
    token_estimate: int


@dataclass(frozen=True, slots=True)
class PortableChild:
    """A child chunk of the parent with ``parent_ordinal``; its vector has the same place among the vectors."""

    document_id: UUID
    chunk_id: UUID
    parent_ordinal: int
    ordinal: int
    start: int
    end: int
    content: str
    first_page: int | None
    last_page: int | None
    embedding_prefix: str
    inner_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PortableVersion:
    """A document with its chunks by ordinal and their vectors, ``[child_count, dimension]``."""

    document: PortableDocument
    parents: Sequence[PortableParent]
    children: Sequence[PortableChild]
    vectors: VectorBatch

    def check(self) -> None:
        """See that it is one that Fuzi could have stored: what searches and citations rely on holds.

        Raises:
            InvalidArchive: it is not; the message names document and place.
        """
        document, text = self.document, self.document.extracted.text
        self._must(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() == document.text_sha256, "text")
        self._must(bool(self.children) and "\0" not in text, "text")
        for place, parent in enumerate(self.parents):
            whole = 0 <= parent.start < parent.end and text[parent.start : parent.end] == parent.content
            self._must(whole and parent.ordinal == place, f"parent chunk {place}")
            self._must(parent.document_id == document.document_id, f"parent chunk {place}")
        for place, child in enumerate(self.children):
            whole = 0 <= child.start < child.end and text[child.start : child.end] == child.content
            self._must(whole and child.ordinal == place, f"child chunk {place}")
            self._must(child.document_id == document.document_id, f"child chunk {place}")
            self._must(0 <= child.parent_ordinal < len(self.parents), f"child chunk {place}")
        good = np.isfinite(self.vectors).all(axis=1) & self.vectors.any(axis=1)
        self._must(bool(good.all()), f"vector {int(np.argmin(good)) if len(good) else 0}")

    def embedded_anew(self, *, heading_context: bool) -> PortableVersion:
        """The same with a fingerprint that says how its chunks are embedded here."""
        fingerprint = with_context(self.document.split_settings_hash, heading_context)
        return replace(self, document=replace(self.document, split_settings_hash=fingerprint))

    @property
    def chunks(self) -> Chunks:
        """The chunks as the splitter would return them."""
        return Chunks(
            strategy="structure",  # which one it was is not kept, and not asked for any more
            parents=tuple(
                ParentSpan(p.ordinal, p.start, p.end, p.heading_path, p.first_page, p.last_page, p.token_estimate)
                for p in self.parents
            ),
            children=tuple(
                ChildSpan(
                    c.ordinal,
                    c.parent_ordinal,
                    c.start,
                    c.end,
                    c.first_page,
                    c.last_page,
                    c.embedding_prefix,
                    c.inner_path,
                )
                for c in self.children
            ),
            settings_hash=self.document.split_settings_hash,
            splitter_version=self.document.splitter_version,
        )

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            raise InvalidArchive(f"the {what} of {self.document.source} in the archive is not what it should be")
