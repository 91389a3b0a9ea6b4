"""A search and its answer in JSON."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, ConfigDict, Field, create_model

from service.api.schemas import Answer, Asked, NoticeAnswer, Storable
from service.config import SearchSettings
from service.store.sources import normalise_source
from service.types import DocumentFilter, Passage, SearchRequest, SearchResult

_MOST_NAMES = 1000

type Weight = Annotated[float, Field(ge=0, le=1000, strict=True, allow_inf_nan=False)]
type Names = Annotated[list[Storable], Field(max_length=_MOST_NAMES)]


class FilterBody(Asked):
    """Every given part must hold; an empty list lets nothing through."""

    document_ids: Annotated[list[UUID], Field(max_length=_MOST_NAMES)] | None = None
    sources: Names | None = None
    media_types: Names | None = None
    created_from: AwareDatetime | None = Field(None, description="first moment, with its time zone")
    created_before: AwareDatetime | None = Field(None, description="first moment no longer wanted")
    updated_from: AwareDatetime | None = None
    updated_before: AwareDatetime | None = None
    metadata: dict[str, Any] | None = Field(
        None,
        description="conditions on metadata fields: a value, or $eq $ne $gt $gte $lt $lte $in $nin $exists $contains; "
        "$and $or $not join them, dots step into objects",
        examples=[{"department": "法务", "year": {"$gte": 2020}}],
    )

    def to_filter(self) -> DocumentFilter:
        """Return the flow's own form.

        Raises:
            InvalidInput: a source is no possible source.
        """
        values = {name: getattr(self, name) for name in type(self).model_fields}
        if self.sources is not None:
            values["sources"] = [normalise_source(source) for source in self.sources]
        return DocumentFilter(**values)


class SearchBody(Asked):
    """A search; everything but the query may be left out."""

    model_config = ConfigDict(
        str_max_length=None,
        json_schema_extra={
            "examples": [
                {"query": "出差住宿费的上限是多少？"},
                {
                    "query": "合同违约金",
                    "top_n": 3,
                    "collections": ["default"],
                    "filters": {"metadata": {"department": "法务", "year": {"$gte": 2020}}},
                    "explain": True,
                },
            ]
        },
    )

    query: Storable
    top_n: int
    candidates: int | None
    vector_weight: float
    fts_weight: float
    rrf_k: int
    rerank: bool = Field(True, strict=True, description="let the configured reranker reorder the passages")
    collections: Names | None = Field(None, description="collections to search; left out, all")
    filters: FilterBody = FilterBody()
    explain: bool = Field(False, strict=True, description="add how the order came about")

    def to_request(self, settings: SearchSettings) -> SearchRequest:
        """Return the flow's own form; candidates that were not asked for are enough for ``top_n`` passages."""
        return SearchRequest(
            query=self.query,
            top_n=self.top_n,
            candidates=self.candidates if self.candidates is not None else max(settings.candidates, self.top_n),
            vector_weight=self.vector_weight,
            fts_weight=self.fts_weight,
            rrf_k=self.rrf_k,
            rerank=self.rerank,
            collections=self.collections,
            filters=self.filters.to_filter(),
            explain=self.explain,
        )


def bounded_search_body(settings: SearchSettings) -> type[SearchBody]:
    """`SearchBody` with the defaults and bounds of these settings, so that OpenAPI shows the ones in force."""
    return create_model(
        "SearchBody",
        __base__=SearchBody,
        __doc__=SearchBody.__doc__,
        query=(Storable, Field(max_length=settings.max_query_characters, description="question or words")),
        top_n=(
            int,
            Field(settings.top_n, ge=1, le=settings.max_top_n, strict=True, description="passages to return"),
        ),
        candidates=(
            int | None,
            Field(
                None,
                ge=1,
                le=settings.max_candidates,
                strict=True,
                description=f"child chunks each leg returns; left out, {settings.candidates} or top_n if that is more",
            ),
        ),
        vector_weight=(Weight, Field(settings.vector_weight, description="share of the vector leg, 0 skips it")),
        fts_weight=(Weight, Field(settings.fts_weight, description="share of the BM25 leg, 0 skips it")),
        rrf_k=(int, Field(settings.rrf_k, ge=1, le=10_000, strict=True, description="k of reciprocal rank fusion")),
    )


class HitAnswer(Answer):
    """A child chunk that brought its passage; a rank of null means that leg did not return it."""

    chunk_id: UUID
    start: int
    end: int
    vector_rank: int | None
    vector_distance: float | None = Field(description="cosine distance, smaller is closer")
    fts_rank: int | None
    fts_score: float | None = Field(description="BM25, larger is better")
    rrf_score: float


class PassageAnswer(Answer):
    """A parent chunk, with the child chunks that brought it, best first. Offsets refer to the document's text."""

    rank: int = Field(description="from 1")
    chunk_id: UUID
    document_id: UUID
    collection: str
    source: str
    title: str | None
    media_type: str
    metadata: dict[str, Any]
    content: str
    start: int
    end: int
    heading_path: list[str]
    first_page: int | None
    last_page: int | None
    rrf_score: float = Field(description="that of the best child, larger is better")
    rerank_score: float | None
    hits: list[HitAnswer]


class SearchAnswer(Answer):
    """Passages in final order. ``warnings`` names what was out of order while the rest answered."""

    passages: list[PassageAnswer]
    timings_ms: dict[str, float]
    warnings: list[NoticeAnswer]
    explanation: dict[str, Any] | None = Field(None, description="only with `explain`")


def search_answer(result: SearchResult) -> SearchAnswer:
    """Return the JSON form of a search's result."""
    return SearchAnswer(
        passages=[_passage(rank, passage) for rank, passage in enumerate(result.passages, start=1)],
        timings_ms=dict(result.timings_ms),
        warnings=[NoticeAnswer.model_validate(notice) for notice in result.warnings],
        explanation=None if result.explanation is None else dict(result.explanation),
    )


def _passage(rank: int, passage: Passage) -> PassageAnswer:
    hits = [
        HitAnswer(
            chunk_id=hit.chunk_id,
            start=hit.start,
            end=hit.end,
            vector_rank=hit.candidate.vector_rank,
            vector_distance=hit.candidate.vector_distance,
            fts_rank=hit.candidate.fts_rank,
            fts_score=hit.candidate.fts_score,
            rrf_score=hit.candidate.rrf_score,
        )
        for hit in passage.hits
    ]
    same = PassageAnswer.model_fields.keys() - {"rank", "hits"}
    return PassageAnswer(rank=rank, hits=hits, **{name: getattr(passage, name) for name in same})
