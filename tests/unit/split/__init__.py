"""Short ways to split a text and to look at what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.config import SplitSettings
from service.split import split, split_sentences
from service.types import Chunks, ExtractedText, Page, TextFormat


def plain(text: str, pages: tuple[Page, ...] = ()) -> ExtractedText:
    return ExtractedText(text=text, format=TextFormat.PLAIN, media_type="text/plain", pages=pages)


def markdown(text: str, pages: tuple[Page, ...] = ()) -> ExtractedText:
    return ExtractedText(text=text, format=TextFormat.MARKDOWN, media_type="text/markdown", pages=pages)


def split_plain(text: str, **settings: Any) -> Chunks:
    return split(plain(text), SplitSettings(**settings))


def split_markdown(text: str, **settings: Any) -> Chunks:
    return split(markdown(text), SplitSettings(**settings))


def sentences(text: str, hard_limit: int | None = None) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, hard_limit)]


def parent_spans(chunks: Chunks) -> list[tuple[int, int]]:
    return [(parent.start, parent.end) for parent in chunks.parents]


def child_spans(chunks: Chunks) -> list[tuple[int, int]]:
    return [(child.start, child.end) for child in chunks.children]


def check_rules(text: str, chunks: Chunks, outside: Sequence[tuple[int, int]] = ()) -> None:
    """The rules that hold in every splitting case, sizes aside; the spans ``outside`` may be in parents only."""
    assert [parent.ordinal for parent in chunks.parents] == list(range(len(chunks.parents)))
    assert [child.ordinal for child in chunks.children] == list(range(len(chunks.children)))
    in_child = {index for start, end in outside for index in range(start, end)}
    in_parent = {index for parent in chunks.parents for index in range(parent.start, parent.end)}
    for child in chunks.children:
        parent = chunks.parents[child.parent]
        assert parent.start <= child.start < child.end <= parent.end
        in_child.update(range(child.start, child.end))
    for chunk in (*chunks.parents, *chunks.children):
        assert 0 <= chunk.start < chunk.end <= len(text)
        content = text[chunk.start : chunk.end]
        assert content == content.strip() != ""
    for covered in (in_child, in_parent):
        missing = [index for index, letter in enumerate(text) if not letter.isspace() and index not in covered]
        assert not missing, f"in no chunk: {[text[index] for index in missing[:20]]}"
    assert {child.parent for child in chunks.children} == set(range(len(chunks.parents)))
    assert [child.parent for child in chunks.children] == sorted(child.parent for child in chunks.children)
