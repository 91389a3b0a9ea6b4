"""A search in JSON."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, ConfigDict, Field, create_model

from service.api.schemas import Asked, Storable
from service.config import SearchSettings
from service.store.sources import normalise_source
from service.types import DocumentFilter, SearchRequest

_MOST_NAMES = 1000

type Weight = Annotated[float, Field(ge=0, le=1000, strict=True, allow_inf_nan=False)]
type Similarity = Annotated[float, Field(ge=-1, le=1, strict=True, allow_inf_nan=False)]
type RerankScore = Annotated[float, Field(strict=True, allow_inf_nan=False)]
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
    min_vector_similarity: Similarity | None = Field(
        None,
        description="of the vector leg: child chunks of a smaller cosine similarity are not its hits; BM25 may still "
        "bring them",
    )
    min_rerank_score: RerankScore | None = Field(
        None,
        description="of the reranker: passages of a smaller `rerank_score`, or of none, are left out; without a "
        "reranker nothing is",
    )
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
            fts_terms=settings.fts_terms,
            rerank=self.rerank,
            collections=self.collections,
            filters=self.filters.to_filter(),
            explain=self.explain,
            min_vector_similarity=self.min_vector_similarity,
            min_rerank_score=self.min_rerank_score,
            given=frozenset(self.model_fields_set),
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
