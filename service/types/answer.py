"""Answers to questions: what is asked, what is read, and what comes out piece by piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from service.types.documents import Notice
from service.types.search import Passage, SearchRequest, SearchResult
from service.types.values import Span

type AnswerMode = Literal["generated", "extractive", "nothing_found"]
"""Written by the chat model; sentences of the passages as they are; a search without passages."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier message of a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question, and the search that finds what it is answered from.

    ``history`` has the earlier messages, oldest first. ``extractive`` asks for sentences although there is a model.
    """

    question: str
    search: SearchRequest
    history: tuple[Turn, ...] = ()
    extractive: bool = False


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """What the model reads under one number, from 1: the passage, or of one that is too long its best hit.

    ``start`` and ``end`` are offsets in the document's text, as those of the passage.
    """

    number: int
    passage: Passage
    start: int
    end: int

    @property
    def content(self) -> str:
        """The text from ``start`` to ``end``."""
        return self.passage.content[self.start - self.passage.start : self.end - self.passage.start]


@dataclass(frozen=True, slots=True)
class Citation:
    """A number that an answer cites; ``mentions`` are its places in the answer's text, in order.

    ``start`` and ``end`` are offsets in the document's text: of the sentence that an extractive answer repeats, else of
    what the model read under this number.
    """

    number: int
    passage: Passage
    start: int
    end: int
    mentions: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the chat server counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Found:
    """First of an answer's pieces: what it is made from, in order of their numbers."""

    mode: AnswerMode
    query: str
    passages: tuple[NumberedPassage, ...]
    result: SearchResult
    model: str | None
    warnings: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The next part of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """Last of an answer's pieces, when all went well.

    ``citations`` are in order of their first mention; ``unknown_numbers`` were cited, but there is no such passage.
    ``usage`` is None when nobody counted.
    """

    mode: AnswerMode
    citations: tuple[Citation, ...]
    unknown_numbers: tuple[int, ...]
    finish_reason: str
    timings_ms: Mapping[str, float]
    usage: Usage | None
    warnings: tuple[Notice, ...]
