"""The explanation of a search, from what its steps left behind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from service.config import SearchSettings
from service.explain.facts import Facts, LegFacts
from service.explain.sentences import sentence
from service.types import (
    Candidate,
    Carrier,
    Completeness,
    EmbeddingModel,
    Explanation,
    LegExplanation,
    Passage,
    PassageExplanation,
    SearchRequest,
    SettingInForce,
)

_EXCERPT = 80
"""Characters of the carrying chunk that are shown."""

_WITH_VARIABLE = ("top_n", "candidates", "vector_weight", "fts_weight", "rrf_k", "fts_terms")
_WITHOUT_VARIABLE = {"rerank": True, "min_vector_similarity": None, "min_rerank_score": None}
"""Settings that only a request or a collection changes."""


def explain(
    request: SearchRequest,
    facts: Facts,
    *,
    service: SearchSettings,
    fts_query_text: str,
    embedding_model: EmbeddingModel | None,
    embedding_from_memory: bool,
    fts_weight: float,
    eligible_documents: int | None,
    completeness: Completeness | None,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> Explanation:
    """Put together what a search was asked, how it looked and why its passages stand where they do.

    Args:
        service: settings of the service; what differs from them and was not asked for is a collection's.
        embedding_model: of the query's vector; None when the vector leg was not asked.
        fts_weight: the one in force: 0 also when the fts leg was out of order.
        completeness: what is known of how the vector leg looked; None leaves it to the plan.
        candidates: those of the passages, as far as nothing better is known.
        passages: in final order.
    """
    weights = (request.vector_weight if embedding_model is not None else 0.0, fts_weight)
    vector_returned = sum(candidate.vector_rank is not None for candidate in candidates)
    fts_returned = sum(candidate.fts_rank is not None for candidate in candidates)
    if completeness is not None:  # counts what was retrieved for passages that were left out, too
        vector_returned, fts_returned = completeness.vector_returned or 0, completeness.fts_returned or 0
    # an index that brings fewer than wanted is followed by the comparison of all (rag.vector_candidates)
    wanted = request.candidates if completeness is None or not completeness.vector_exact else math.inf
    vector_leg = _leg(weights[0], facts.vector_leg, vector_returned, _rows(facts, facts.vector_leg) >= wanted)
    fts_leg = _leg(weights[1], facts.fts_leg, fts_returned, _rows(facts, facts.fts_leg) > 0)
    return Explanation(
        fts_query_text=fts_query_text,
        query_words=facts.query_words,
        query_pairs=facts.query_pairs,
        embedding_model=None if embedding_model is None else f"{embedding_model.provider} {embedding_model.name}",
        embedding_from_memory=embedding_from_memory,
        vector_leg=vector_leg,
        fts_leg=fts_leg,
        eligible_documents=eligible_documents,
        indexes=facts.indexes,
        settings=_settings(request, facts, service),
        passages=[
            _passage(rank, passage, request.rrf_k, (vector_leg, fts_leg))
            for rank, passage in enumerate(passages, start=1)
        ],
    )


def _leg(weight: float, facts: LegFacts | None, returned: int, is_by_index: bool) -> LegExplanation:
    if facts is None or weight == 0:
        return LegExplanation(weight > 0, weight, returned)
    access: Literal["index", "exact"] = "index" if is_by_index else "exact"
    return LegExplanation(True, weight, returned, access, facts.scans, round(facts.milliseconds, 3))


def _rows(facts: Facts, leg: LegFacts | None) -> int:
    """Rows that the search indexes brought."""
    known = {index.name for index in facts.indexes}
    return 0 if leg is None else sum(scan.rows for scan in leg.scans if scan.index in known)


def _settings(request: SearchRequest, facts: Facts, service: SearchSettings) -> list[SettingInForce]:
    values = {name: getattr(service, name) for name in _WITH_VARIABLE}
    values["candidates"] = max(service.candidates, request.top_n)
    settings = [_setting(request, name, value, f"FUZI_SEARCH__{name.upper()}") for name, value in values.items()]
    settings += [_setting(request, name, value) for name, value in _WITHOUT_VARIABLE.items()]
    settings.append(SettingInForce("hnsw.ef_search", facts.ef_search, "service", "FUZI_SEARCH__EF_SEARCH"))
    settings.append(SettingInForce("hnsw.iterative_scan", facts.iterative_scan, "service"))
    return settings


def _setting(
    request: SearchRequest, name: str, of_service: float | str | None, variable: str | None = None
) -> SettingInForce:
    value = getattr(request, name)
    if name in request.given:
        return SettingInForce(name, value, "request", variable)
    return SettingInForce(name, value, "service" if value == of_service else "collection", variable)


def _passage(
    rank: int, passage: Passage, rrf_k: int, legs: tuple[LegExplanation, LegExplanation]
) -> PassageExplanation:
    best = passage.hits[0]
    found = best.candidate
    start, end = best.start - passage.start, best.end - passage.start
    excerpt = passage.content[start : min(end, start + _EXCERPT)]
    return PassageExplanation(
        rank=rank,
        rank_before_rerank=passage.rank_before_rerank,
        chunk_id=passage.chunk_id,
        carried_by=Carrier(best.chunk_id, best.start, best.end, excerpt + ("…" if end - start > _EXCERPT else "")),
        vector_rank=found.vector_rank,
        vector_distance=found.vector_distance,
        vector_similarity=None if found.vector_distance is None else 1 - found.vector_distance,
        vector_share=_share(legs[0].weight, rrf_k, found.vector_rank),
        fts_rank=found.fts_rank,
        fts_score=found.fts_score,
        fts_share=_share(legs[1].weight, rrf_k, found.fts_rank),
        rrf_score=passage.rrf_score,
        rerank_score=passage.rerank_score,
        rerank_reasons=passage.rerank_reasons,
        hit_count=len(passage.hits),
        sentence=sentence(rank, passage, legs),
    )


def _share(weight: float, rrf_k: int, rank: int | None) -> float:
    return 0.0 if rank is None else weight / (rrf_k + rank)
