"""Why a search answered as it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan of the child chunks that PostgreSQL ran for a leg: ``rows`` it brought, ``index`` None for the table."""

    node: str
    index: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class LegExplanation:
    """What one leg was asked and how it looked.

    ``access`` is None when the leg was not asked, or PostgreSQL did not tell: ``index`` says that an HNSW or BM25 index
    brought the rows, ``exact`` that every eligible chunk was compared. ``milliseconds`` are those of the leg alone, run
    once more for the explanation.
    """

    asked: bool
    weight: float
    returned: int
    access: Literal["index", "exact"] | None = None
    scans: Sequence[Scan] = ()
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """A search index of the child chunks; one that is not ``valid`` is not used."""

    name: str
    method: str
    valid: bool


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting of this search, and who set it; ``variable`` sets it for the service, None where nothing does."""

    name: str
    value: bool | int | float | str | None
    origin: Literal["request", "collection", "service"]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Carrier:
    """The child chunk whose rrf_score its passage has; offsets refer to the document's text."""

    chunk_id: UUID
    start: int
    end: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class PassageExplanation:
    """How one passage came to its place; ranks, distances and shares are those of ``carried_by``.

    ``vector_share + fts_share == rrf_score``; a share is weight / (rrf_k + rank), 0 without a rank.
    ``vector_similarity`` is 1 - ``vector_distance``. ``hit_count`` counts the children that a leg found.
    ``sentence`` says in plain words what put the passage where it is.
    """

    rank: int
    rank_before_rerank: int
    chunk_id: UUID
    carried_by: Carrier
    vector_rank: int | None
    vector_distance: float | None
    vector_similarity: float | None
    vector_share: float
    fts_rank: int | None
    fts_score: float | None
    fts_share: float
    rrf_score: float
    rerank_score: float | None
    rerank_reasons: Sequence[str]
    hit_count: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a search was asked in the database's words, how it looked, with which settings, and each passage's reason.

    ``query_words`` are those of the database's tokenizer, which overlap; ``query_pairs`` the pairs of Han characters.
    """

    fts_query_text: str
    query_words: Sequence[str]
    query_pairs: Sequence[str]
    embedding_model: str | None
    embedding_from_memory: bool
    vector_leg: LegExplanation
    fts_leg: LegExplanation
    eligible_documents: int | None
    indexes: Sequence[IndexFacts]
    settings: Sequence[SettingInForce]
    passages: Sequence[PassageExplanation]
