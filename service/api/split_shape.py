"""The JSON form of a text's chunks, the same from the REST service and from ``fuzi split --json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.api.schemas import Answer
from service.types import Chunks, ExtractedText


class SplitParent(Answer):
    """A parent chunk; ``pages`` are all pages it touches."""

    ordinal: int
    start: int
    end: int
    content: str
    heading_path: list[str]
    pages: list[int]
    token_estimate: int


class SplitChild(Answer):
    """A child chunk; ``parent`` is the ordinal of its parent, ``inner_path`` the headings below the parent's path."""

    ordinal: int
    parent: int
    start: int
    end: int
    content: str
    pages: list[int]
    embedding_prefix: str
    inner_path: list[str]


class SplitAnswer(Answer):
    """A text and how it is cut; ``text[start:end] == content`` for every chunk."""

    text: str
    title: str | None
    strategy: str
    splitter_version: str
    settings_hash: str
    sentences: list[tuple[int, int]]
    parents: list[SplitParent]
    children: list[SplitChild]


def split_json(extracted: ExtractedText, sentences: Sequence[tuple[int, int]], chunks: Chunks) -> dict[str, Any]:
    """Return text, sentences, parents and children; all offsets are ``[start, end)`` in code points of ``text``."""
    text = extracted.text
    return {
        "text": text,
        "title": extracted.title,
        "strategy": chunks.strategy,
        "splitter_version": chunks.splitter_version,
        "settings_hash": chunks.settings_hash,
        "sentences": [[start, end] for start, end in sentences],
        "parents": [
            {
                "ordinal": parent.ordinal,
                "start": parent.start,
                "end": parent.end,
                "content": text[parent.start : parent.end],
                "heading_path": list(parent.heading_path),
                "pages": page_numbers(parent.first_page, parent.last_page),
                "token_estimate": parent.token_estimate,
            }
            for parent in chunks.parents
        ],
        "children": [
            {
                "ordinal": child.ordinal,
                "parent": child.parent,
                "start": child.start,
                "end": child.end,
                "content": text[child.start : child.end],
                "pages": page_numbers(child.first_page, child.last_page),
                "embedding_prefix": child.embedding_prefix,
                "inner_path": list(child.inner_path),
            }
            for child in chunks.children
        ],
    }


def page_numbers(first: int | None, last: int | None) -> list[int]:
    """Every page from the first to the last, both included; none when pages are unknown."""
    return [] if first is None else list(range(first, (last or first) + 1))
