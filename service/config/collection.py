"""Settings of one collection, kept in `rag.collection.settings`; what is left out is that of the service."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from service.config.group import Group
from service.config.ingestion import CollectionIngestion
from service.config.search import FtsTerms

_MOST_GROUPS = 1000

type Word = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00]*$")
]
type Words = Annotated[tuple[Word, ...], Field(max_length=50)]


class Synonyms(Group):
    """Words that find each other; with ``of``, words that are looked for as well when one of ``of`` is asked for."""

    words: Annotated[Words, Field(min_length=1)] = Field(description="words of one meaning")
    of: Words = Field((), description="one way: a query with one of these is looked for by `words` too")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.of and len(self.words) < 2:
            raise ValueError("a group of synonyms has at least two words, or one and `of`")
        return self


class CollectionSettings(CollectionIngestion):
    """What a collection has of its own. Numbers of a search hold for searches over this collection alone."""

    top_n: int | None = Field(None, ge=1, le=100, strict=True, description="passages returned")
    candidates: int | None = Field(None, ge=1, le=1000, strict=True, description="child chunks each leg returns")
    vector_weight: float | None = Field(
        None, ge=0, le=1000, strict=True, description="weight of the vector leg, unless the service has 0"
    )
    fts_weight: float | None = Field(None, ge=0, le=1000, strict=True, description="weight of the BM25 leg")
    rrf_k: int | None = Field(None, ge=1, le=10_000, strict=True, description="k of reciprocal rank fusion")
    fts_terms: FtsTerms | None = Field(None, description="what the BM25 leg looks for: words, pairs or both")
    min_vector_similarity: float | None = Field(
        None, ge=-1, le=1, strict=True, description="least similarity in the vector leg"
    )
    synonyms: tuple[Synonyms, ...] = Field((), max_length=_MOST_GROUPS, description="for the BM25 leg")
    ignore_words: tuple[Word, ...] = Field((), max_length=_MOST_GROUPS, description="not looked for by the BM25 leg")

    @model_validator(mode="after")
    def _asks_a_leg(self) -> Self:
        if self.vector_weight == 0 and self.fts_weight == 0:
            raise ValueError("vector_weight and fts_weight must not both be 0: no leg would run")
        return self
