"""What a search found, as a page shows it: the words of the query marked, and what moved between two settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from service.types import Hit, Passage, PassageExplanation, SearchResult
from service.web.view.pieces import Mark, Piece, pieces

type Layer = Hit | None
"""What a mark shows: a hit, or with None a word of the query."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage with its place in the answer; ``parts`` are its content with hits and words marked."""

    rank: int
    passage: Passage
    why: PassageExplanation
    parts: Sequence[Piece[Layer]]

    @property
    def hits(self) -> dict[UUID, int]:
        """The hits by their chunk ids with their numbers, best first from 1; the first carried the passage."""
        return {hit.chunk_id: number for number, hit in enumerate(self.passage.hits, start=1)}

    @property
    def name(self) -> str:
        """What a person calls the document."""
        return self.passage.title or self.passage.source

    @property
    def headings(self) -> list[str]:
        """Headings that the name does not say already."""
        return [heading for heading in self.passage.heading_path if heading != self.passage.title]

    @property
    def climbed(self) -> int:
        """Places won by reranking; negative when they were lost."""
        return self.why.rank_before_rerank - self.rank

    @property
    def share_of_vector(self) -> float:
        """Part of the rrf_score that the vector leg brought, 0 to 1."""
        whole = self.why.vector_share + self.why.fts_share
        return self.why.vector_share / whole if whole else 0.0


def found(result: SearchResult) -> list[Found]:
    """The passages of an explained search, in order."""
    assert result.explanation is not None  # noqa: S101 - the console asks for every explanation
    reasons = zip(result.passages, result.explanation.passages, strict=True)
    return [Found(rank, passage, why, _parts(passage)) for rank, (passage, why) in enumerate(reasons, start=1)]


def _parts(passage: Passage) -> list[Piece[Layer]]:
    marks: list[Mark[Layer]] = [Mark(hit.start - passage.start, hit.end - passage.start, hit) for hit in passage.hits]
    marks += [Mark(start, end, None) for start, end in passage.highlights]
    return pieces(passage.content, marks)


@dataclass(frozen=True, slots=True)
class Move:
    """Where a passage stands in the other answer; None when it is not there."""

    other_rank: int | None
    climbed: int


def moves(here: Sequence[Found], there: Sequence[Found]) -> dict[UUID, Move]:
    """For each passage of one answer, by its chunk id, where the other one has it."""
    others = {each.passage.chunk_id: each.rank for each in there}
    return {
        each.passage.chunk_id: Move(
            others.get(each.passage.chunk_id), others.get(each.passage.chunk_id, each.rank) - each.rank
        )
        for each in here
    }
