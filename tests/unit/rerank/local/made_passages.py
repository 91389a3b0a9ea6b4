"""Passages of a search, as a test needs them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from service.types import Candidate, Hit, Passage


def passage(
    content: str,
    rank: int = 1,
    *,
    distances: Sequence[float] = (0.2,),
    fts_score: float | None = 1.0,
    document: int = 0,
    start: int = 0,
    heading_path: tuple[str, ...] = (),
    title: str | None = None,
) -> Passage:
    """One with one hit, found at ``rank`` by each leg that is there."""
    vector_rank, fts_rank = rank if distances else None, rank if fts_score is not None else None
    score = sum(weight / (60 + rank) for weight, leg in ((70, vector_rank), (30, fts_rank)) if leg)
    candidate = Candidate(rank, rank, vector_rank, min(distances, default=None), fts_rank, fts_score, score)
    return Passage(
        chunk_id=UUID(int=rank),
        parent_id=rank,
        document_id=UUID(int=document),
        collection="c",
        source=str(document),
        title=title,
        media_type="text/plain",
        metadata={},
        content=content,
        start=start,
        end=start + len(content),
        heading_path=heading_path,
        first_page=None,
        last_page=None,
        rrf_score=score,
        hits=(Hit(UUID(int=rank), start, start + len(content), candidate),),
        rank_before_rerank=rank,
        child_distances=tuple(sorted(distances)),
    )
