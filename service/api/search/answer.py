"""What a search answers, in JSON."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from service.api.schemas import Answer, NoticeAnswer
from service.types import Completeness, Explanation, Passage, SearchResult, Span


class HitAnswer(Answer):
    """A child chunk that brought its passage; a rank of null means that leg did not return it."""

    chunk_id: UUID
    start: int
    end: int
    first_page: int | None
    last_page: int | None
    vector_rank: int | None
    vector_distance: float | None = Field(description="cosine distance, smaller is closer")
    fts_rank: int | None
    fts_score: float | None = Field(description="BM25, larger is better")
    rrf_score: float
    highlights: list[Span] = Field(description="the query's words in it: [start, end) from the chunk's own start")


class PassageAnswer(Answer):
    """A parent chunk, with the child chunks that brought it, best first.

    Offsets refer to the document's text, those of ``highlights`` to ``content``.
    """

    rank: int = Field(description="from 1")
    chunk_id: UUID
    document_id: UUID
    collection: str
    source: str
    title: str | None
    media_type: str
    metadata: dict[str, Any]
    content: str
    highlights: list[Span] = Field(description="the query's words in content: [start, end) in order, disjoint")
    start: int
    end: int
    heading_path: list[str]
    first_page: int | None
    last_page: int | None
    rrf_score: float = Field(description="that of the best child, larger is better")
    rerank_score: float | None = Field(description="larger is better; null where no reranker scored the passage")
    hits: list[HitAnswer]


class CompletenessAnswer(Answer):
    """How much of what was eligible the search looked at."""

    eligible_chunks: int | None = Field(description="child chunks that the filters let through; null without filters")
    vector_returned: int | None = Field(description="child chunks of the vector leg; null when it was not asked")
    fts_returned: int | None = Field(description="child chunks of the BM25 leg; null when it was not asked")
    vector_exact: bool = Field(description="every eligible chunk was compared, not only what the HNSW index brought")


class SearchAnswer(Answer):
    """Passages in final order. ``warnings`` names what was out of order while the rest answered."""

    search_id: UUID | None = Field(None, description="names this search in feedback and in the search log")
    passages: list[PassageAnswer]
    timings_ms: dict[str, float] = Field(description="milliseconds of each step, and `total_ms`")
    warnings: list[NoticeAnswer]
    completeness: CompletenessAnswer | None = Field(None, description="null when it is not known")
    corpus_revision: int | None = Field(
        None, description="grows with every change of a document: equal requests at one revision have equal answers"
    )
    explanation: Explanation | None = Field(None, description="how the order came about; only with `explain`")


def search_answer(result: SearchResult) -> SearchAnswer:
    """Return the JSON form of a search's result."""
    return SearchAnswer(
        search_id=result.search_id,
        passages=[_passage(rank, passage) for rank, passage in enumerate(result.passages, start=1)],
        timings_ms=dict(result.timings_ms),
        warnings=[NoticeAnswer.model_validate(notice) for notice in result.warnings],
        completeness=_completeness(result.completeness),
        corpus_revision=result.corpus_revision,
        explanation=result.explanation,
    )


def _completeness(found: Completeness | None) -> CompletenessAnswer | None:
    return None if found is None else CompletenessAnswer.model_validate(found)


def _passage(rank: int, passage: Passage) -> PassageAnswer:
    hits = [
        HitAnswer(
            chunk_id=hit.chunk_id,
            start=hit.start,
            end=hit.end,
            first_page=hit.first_page,
            last_page=hit.last_page,
            vector_rank=hit.candidate.vector_rank,
            vector_distance=hit.candidate.vector_distance,
            fts_rank=hit.candidate.fts_rank,
            fts_score=hit.candidate.fts_score,
            rrf_score=hit.candidate.rrf_score,
            highlights=list(hit.highlights),
        )
        for hit in passage.hits
    ]
    same = PassageAnswer.model_fields.keys() - {"rank", "hits"}
    return PassageAnswer(rank=rank, hits=hits, **{name: getattr(passage, name) for name in same})
