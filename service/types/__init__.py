"""Frozen values that cross from one room to the next.

All character offsets in this package count Unicode code points of the stored
extracted text and are half open: ``[start, end)``.
"""

from service.types.access import ANYONE, NOBODY, AccessScope, Principal
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
from service.types.explanation import (
    Carrier,
    Explanation,
    IndexFacts,
    LegExplanation,
    PassageExplanation,
    Scan,
    SettingInForce,
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
from service.types.values import FtsTerms, JsonObject, Span, Vector, VectorBatch

__all__ = [
    "ANYONE",
    "NOBODY",
    "AccessScope",
    "Block",
    "BlockType",
    "Candidate",
    "Carrier",
    "ChildSpan",
    "Chunks",
    "Completeness",
    "DocumentFilter",
    "DocumentStatus",
    "EmbeddingModel",
    "Explanation",
    "ExtractRequest",
    "ExtractedText",
    "FtsTerms",
    "Hit",
    "IndexFacts",
    "IngestOutcome",
    "IngestRequest",
    "IngestResult",
    "JsonObject",
    "LegExplanation",
    "Notice",
    "Page",
    "ParentSpan",
    "Passage",
    "PassageExplanation",
    "Principal",
    "Scan",
    "SearchRequest",
    "SearchResult",
    "SettingInForce",
    "Span",
    "TextFormat",
    "Vector",
    "VectorBatch",
]
