"""Which passages the chat model reads, and under which numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.types import NumberedPassage, Passage, Span

_TOKENS_AROUND = 40
"""Of the marks, title and headings around a passage."""


def number_passages(
    passages: Sequence[Passage], budget: int, tokens_of: Callable[[str], int]
) -> tuple[NumberedPassage, ...]:
    """Number passages from 1 in their order, as long as they fit.

    One that does not fit is narrowed to the hit that carried it; where that does not fit either, it and all behind it
    are left out: a lower place never takes the room of a higher one. The first is always there, cut if need be.

    Args:
        budget: tokens for all of them.
        tokens_of: estimates the tokens of a text.
    """
    numbered, left = list[NumberedPassage](), budget
    for passage in passages:
        span, tokens = _narrowed(passage, left, tokens_of)
        if span is None and not numbered:
            span, tokens = (passage.start, passage.start + max(1, left - _TOKENS_AROUND)), left
        if span is None:
            break
        numbered.append(NumberedPassage(len(numbered) + 1, passage, span[0], min(span[1], passage.end)))
        left -= tokens
    return tuple(numbered)


def _narrowed(passage: Passage, left: int, tokens_of: Callable[[str], int]) -> tuple[Span | None, int]:
    hits = [(hit.start, hit.end) for hit in passage.hits[:1]]
    for start, end in [(passage.start, passage.end), *hits]:
        content = passage.content[start - passage.start : end - passage.start]
        tokens = tokens_of(content) + _TOKENS_AROUND
        if tokens <= left:
            return (start, end), tokens
    return None, 0
