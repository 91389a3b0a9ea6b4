"""Searches and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from service.types.documents import Notice
from service.types.explanation import Explanation
from service.types.values import FtsTerms, JsonObject, Span, Verdict


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
    """One search: ``candidates`` counts child chunks per leg, ``top_n`` passages; weight 0 skips a leg.

    ``min_vector_similarity`` (cosine, -1 to 1) holds for child chunks of the vector leg, ``min_rerank_score`` for
    passages that a reranker scored; both are thresholds of their own stage, and ``None`` sets none. ``fts_terms`` is
    what the fts leg looks for. ``collections`` are those asked for, which must exist; ``within`` those that may be
    seen, where ``None`` hides none. ``given`` names the fields that the caller set, for an explanation: the others have
    the service's defaults.
    """

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
    min_vector_similarity: float | None = None
    min_rerank_score: float | None = None
    fts_terms: FtsTerms = "both"
    given: frozenset[str] = frozenset()
    within: Sequence[str] | None = None

    @property
    def searched(self) -> Sequence[str] | None:
        """Names of the collections to look in, as far as they exist; None is all."""
        if self.collections is None or self.within is None:
            return self.within if self.collections is None else self.collections
        return [name for name in self.collections if name in self.within]


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
    """A child chunk that brought its passage, with its span in the document's text and the pages it is on.

    ``highlights`` are the query's terms inside it: merged spans in order, offsets from the child's start.
    ``inner_path`` are its headings below the passage's heading path, where the passage joins several sections.
    """

    chunk_id: UUID
    start: int
    end: int
    candidate: Candidate
    highlights: tuple[Span, ...] = ()
    inner_path: tuple[str, ...] = ()
    first_page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A parent chunk with the child chunks that brought it, best child first.

    ``rrf_score`` is that of the best child. ``rank_before_rerank`` starts at 1. ``child_distances`` are the cosine
    distances of all its children to the query, nearest first; empty when the query was not embedded. ``rerank_reasons``
    are a reranker's main ones, in words, where it has any. ``highlights``
    are the query's terms in ``content``: merged spans in order, offsets from the passage's start.
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
    child_distances: tuple[float, ...] = ()
    rerank_reasons: tuple[str, ...] = ()
    highlights: tuple[Span, ...] = ()

    def pages_of(self, start: int, end: int) -> tuple[int | None, int | None]:
        """First and last page that the span ``[start, end)`` of the document's text can be on.

        Pages are known of the passage and of its hits. Hits that hold the span, end before it or begin behind it leave
        fewer pages than the passage has; often one.
        """
        first, last = self.first_page, self.last_page
        if first is None or last is None:
            return first, last
        for hit in self.hits:
            if hit.first_page is None or hit.last_page is None:
                continue
            if hit.start <= start and end <= hit.end:
                first, last = max(first, hit.first_page), min(last, hit.last_page)
            elif hit.end <= start:
                first = max(first, hit.last_page)
            elif end <= hit.start:
                last = min(last, hit.first_page)
        return first, last


@dataclass(frozen=True, slots=True)
class Completeness:
    """How much of what was eligible a search looked at.

    ``eligible_chunks`` is None when nothing restricted the search; ``vector_exact`` says that every eligible chunk
    was compared, not only those that the HNSW index brought. A leg that was not asked returned None.
    """

    eligible_chunks: int | None
    vector_returned: int | None
    fts_returned: int | None
    vector_exact: bool


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages in final order, with what happened on the way.

    The same request on the same ``corpus_revision`` has the same answer, but for ``search_id``, which is its own.
    """

    passages: tuple[Passage, ...]
    timings_ms: Mapping[str, float]
    warnings: tuple[Notice, ...]
    explanation: Explanation | None = None
    completeness: Completeness | None = None
    corpus_revision: int | None = None
    search_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody thinks of a passage (``chunk_id``, a parent chunk) that a search returned.

    ``query`` is what was searched for, as far as the caller says it.
    """

    search_id: UUID
    chunk_id: UUID
    verdict: Verdict
    comment: str | None = None
    query: str | None = None
