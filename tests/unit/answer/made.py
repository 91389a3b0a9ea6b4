"""Passages as a search brings them, made by hand."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from service.types import Candidate, Hit, NumberedPassage, Passage


def passage(content: str, *, start: int = 0, hit: tuple[int, int] | None = None, **fields: object) -> Passage:
    """A passage of a document at this offset; ``hit`` is the span in ``content`` of the child that carried it."""
    candidate = Candidate(1, 1, 1, 0.1, None, None, 1.0)
    hits = () if hit is None else (Hit(uuid5(NAMESPACE_URL, "hit"), start + hit[0], start + hit[1], candidate),)
    values: dict[str, object] = {
        "chunk_id": uuid5(NAMESPACE_URL, content),
        "parent_id": 1,
        "document_id": uuid5(NAMESPACE_URL, "document"),
        "collection": "default",
        "source": "空压机.md",
        "title": "空压机保养",
        "media_type": "text/markdown",
        "metadata": {},
        "content": content,
        "start": start,
        "end": start + len(content),
        "heading_path": ("空压机保养",),
        "first_page": None,
        "last_page": None,
        "rrf_score": 1.0,
        "hits": hits,
        "rank_before_rerank": 1,
    }
    return Passage(**{**values, **fields})  # type: ignore[arg-type]


def numbered(*passages: Passage) -> list[NumberedPassage]:
    """The passages under their numbers, whole."""
    return [NumberedPassage(number, each, each.start, each.end) for number, each in enumerate(passages, start=1)]
