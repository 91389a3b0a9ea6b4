"""Frozen values that cross from one room to the next.

All character offsets in this package count Unicode code points of the stored
extracted text and are half open: ``[start, end)``.
"""

from service.types.documents import (
    Block,
    BlockType,
    ChildSpan,
    Chunks,
    DocumentStatus,
    EmbeddingModel,
    ExtractedText,
    ExtractRequest,
    IngestOutcome,
    IngestRequest,
    IngestResult,
    Notice,
    Page,
    ParentSpan,
    TextFormat,
)
from service.types.search import (
    Candidate,
    Completeness,
    DocumentFilter,
    Hit,
    Passage,
    SearchRequest,
    SearchResult,
)
from service.types.values import JsonObject, Span, Vector, VectorBatch

__all__ = [
    "Block",
    "BlockType",
    "Candidate",
    "ChildSpan",
    "Chunks",
    "Completeness",
    "DocumentFilter",
    "DocumentStatus",
    "EmbeddingModel",
    "ExtractRequest",
    "ExtractedText",
    "Hit",
    "IngestOutcome",
    "IngestRequest",
    "IngestResult",
    "JsonObject",
    "Notice",
    "Page",
    "ParentSpan",
    "Passage",
    "SearchRequest",
    "SearchResult",
    "Span",
    "TextFormat",
    "Vector",
    "VectorBatch",
]
