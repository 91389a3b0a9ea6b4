"""What an answer says, in JSON. Offsets are half open and count Unicode code points."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from service.api.schemas import Answer, NoticeAnswer
from service.api.search.answer import CompletenessAnswer
from service.types import (
    AnswerMode,
    Citation,
    Completed,
    Explanation,
    Found,
    NumberedPassage,
    Passage,
    Span,
)


class SourceAnswer(Answer):
    """Where a text is from; ``start`` and ``end`` are offsets in the document's text, the pages those of that span.

    Where the passage goes over several pages and its hits do not tell, the pages are a range that holds the span.
    """

    number: int = Field(description="from 1; what the answer cites as [1]")
    chunk_id: UUID
    document_id: UUID
    collection: str
    source: str
    title: str | None
    heading_path: list[str]
    start: int
    end: int
    first_page: int | None
    last_page: int | None


class NumberedAnswer(SourceAnswer):
    """A passage that the answer is made from; of one that was too long its best hit."""

    media_type: str
    content: str
    rrf_score: float
    rerank_score: float | None


class CitationAnswer(SourceAnswer):
    """A number that the answer cites: a passage, or in an extractive answer the very sentence."""

    mentions: list[Span] = Field(description="where the answer's text cites it: [start, end) of the brackets")


class UsageAnswer(Answer):
    """Tokens, as the chat server counts them."""

    prompt_tokens: int
    completion_tokens: int


class FoundAnswer(Answer):
    """Event `search_results`, the first: what the answer will be made from."""

    answer_id: str
    mode: AnswerMode = Field(
        description="`generated` by the chat model; `extractive`: sentences as they stand; `nothing_found`"
    )
    model: str | None = Field(description="the chat model; null where none is asked")
    query: str = Field(description="what was searched for")
    passages: list[NumberedAnswer]
    search_timings_ms: dict[str, float]
    search_id: UUID | None = Field(None, description="names the search in feedback and in the search log")
    completeness: CompletenessAnswer | None
    corpus_revision: int | None
    explanation: Explanation | None = Field(None, description="only with `explain` in `search`")


class ContentAnswer(Answer):
    """Event `content`: the next part of the text."""

    text: str


class CompletedAnswer(Answer):
    """Event `complete`, the last when all went well."""

    answer_id: str
    mode: AnswerMode
    citations: list[CitationAnswer] = Field(description="in order of their first mention")
    unknown_numbers: list[int] = Field(description="numbers that the model cited and no passage has")
    finish_reason: str = Field(description="`stop`; `length` when the longest answer was reached; others of the model")
    timings_ms: dict[str, float] = Field(description="`search_ms`, `first_word_ms`, `write_ms`, `total_ms`")
    usage: UsageAnswer | None
    warnings: list[NoticeAnswer]


class WholeAnswer(FoundAnswer, CompletedAnswer):
    """A whole answer: what the events of a stream say, together."""

    text: str


def found_answer(answer_id: str, found: Found) -> FoundAnswer:
    """Return the JSON form of an answer's beginning."""
    result = found.result
    return FoundAnswer(
        answer_id=answer_id,
        mode=found.mode,
        model=found.model,
        query=found.query,
        passages=[_numbered(passage) for passage in found.passages],
        search_timings_ms=dict(result.timings_ms),
        search_id=result.search_id,
        completeness=None if result.completeness is None else CompletenessAnswer.model_validate(result.completeness),
        corpus_revision=result.corpus_revision,
        explanation=result.explanation,
    )


def completed_answer(answer_id: str, completed: Completed) -> CompletedAnswer:
    """Return the JSON form of an answer's end."""
    usage = completed.usage
    return CompletedAnswer(
        answer_id=answer_id,
        mode=completed.mode,
        citations=[_citation(citation) for citation in completed.citations],
        unknown_numbers=list(completed.unknown_numbers),
        finish_reason=completed.finish_reason,
        timings_ms=dict(completed.timings_ms),
        usage=None if usage is None else UsageAnswer.model_validate(usage),
        warnings=[NoticeAnswer.model_validate(notice) for notice in completed.warnings],
    )


def whole_answer(found: FoundAnswer, text: str, completed: CompletedAnswer) -> WholeAnswer:
    """Return all of an answer in one."""
    return WholeAnswer(**{**dict(found), **dict(completed)}, text=text)


def _numbered(numbered: NumberedPassage) -> NumberedAnswer:
    passage = numbered.passage
    return NumberedAnswer(
        **_source(numbered, passage),
        media_type=passage.media_type,
        content=numbered.content,
        rrf_score=passage.rrf_score,
        rerank_score=passage.rerank_score,
    )


def _citation(citation: Citation) -> CitationAnswer:
    return CitationAnswer(**_source(citation, citation.passage), mentions=list(citation.mentions))


def _source(cited: NumberedPassage | Citation, passage: Passage) -> dict[str, object]:
    first_page, last_page = passage.pages_of(cited.start, cited.end)
    own = {
        "number": cited.number,
        "start": cited.start,
        "end": cited.end,
        "first_page": first_page,
        "last_page": last_page,
    }
    return {**{name: getattr(passage, name) for name in SourceAnswer.model_fields.keys() - own.keys()}, **own}
