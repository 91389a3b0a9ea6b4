"""ANSWER FLOW: search → number the passages → let the chat model write → resolve what it cites.

The search is over, and its connection given back, before the model is asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from uuid import uuid4

import structlog

from service.answer import (
    ChatModel,
    best_sentences,
    citations_of,
    messages_for,
    nothing_found,
    number_passages,
    recent_turns,
    search_query,
)
from service.config import ChatSettings
from service.errors import ChatFailed, EmptyAnswer
from service.search import SearchParts, search
from service.split import estimate_tokens, split_sentences
from service.steps import Steps
from service.types import AnswerMode, AnswerRequest, Citation, Completed, Found, Notice, Usage, Written

log = structlog.get_logger()

_CUT = Notice("answer_cut", "the model reached its longest answer; raise FUZI_CHAT__MAX_TOKENS for longer ones")
_FILTERED = Notice("answer_filtered", "the chat server's content filter took part of the answer")
_OF_FINISH = {"length": _CUT, "content_filter": _FILTERED}


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """What an answer works with; without a ``chat`` model answers are extractive."""

    search: SearchParts
    chat: ChatModel | None
    settings: ChatSettings


async def find(parts: AnswerParts, request: AnswerRequest) -> Found:
    """Search for what a question is answered from, and number it.

    The query is the request's own; where that is blank, `search_query` makes one.

    Raises:
        InvalidInput, CollectionNotFound, EmbedderUnavailable: as `service.search.search`.
    """
    query = request.search.query
    if not query.strip():
        query = search_query(request.question, request.history, parts.search.settings.max_query_characters)
    result = await search(parts.search, replace(request.search, query=query))
    passages = number_passages(result.passages, parts.settings.context_tokens, estimate_tokens)
    warnings = result.warnings
    left_out = len(result.passages) - len(passages)
    if left_out:
        message = f"{left_out} of {len(result.passages)} passages did not fit into FUZI_CHAT__CONTEXT_TOKENS"
        warnings += (Notice("context_full", message),)
    mode: AnswerMode = "extractive" if parts.chat is None or request.extractive else "generated"
    if not passages:
        mode = "nothing_found"
    model = parts.chat.name if parts.chat is not None and mode == "generated" else None
    return Found(mode, query, passages, result, model, warnings)


async def write(parts: AnswerParts, request: AnswerRequest, found: Found) -> AsyncGenerator[Written | Completed]:
    """Yield the text as it is written, then `Completed`; closing the iterator stops the model.

    Raises:
        ChatUnavailable: the model does not answer, or broke off.
        ChatFailed: it refuses, writes without end, or ended without a word (`EmptyAnswer`).
    """
    steps = Steps()
    if found.mode == "generated":
        async with aclosing(_generated(parts, request, found, steps)) as pieces:
            async for piece in pieces:
                yield piece
        return
    citations: tuple[Citation, ...] = ()
    with steps.step("write"):
        text = nothing_found(request.question)
        if found.mode == "extractive":
            text, citations = best_sentences(request.question, found.passages, split_sentences)
    yield Written(text)
    yield _completed(found, steps, citations)


async def _generated(
    parts: AnswerParts, request: AnswerRequest, found: Found, steps: Steps
) -> AsyncGenerator[Written | Completed]:
    chat, settings = parts.chat, parts.settings
    assert chat is not None  # noqa: S101 - else the mode were another
    history = recent_turns(request.history, settings.history_messages, settings.history_tokens, estimate_tokens)
    messages = messages_for(request.question, found.passages, history, mark=f"passage-{uuid4().hex[:8]}")
    text, finish, usage = "", "stop", None
    with steps.step("write"), ExitStack() as waiting:
        waiting.enter_context(steps.step("first_word"))
        async with aclosing(chat.write(messages)) as pieces:
            async for piece in pieces:
                finish, usage = piece.finish_reason or finish, piece.usage or usage
                if not piece.text:
                    continue
                waiting.close()
                text += piece.text
                if len(text) > settings.max_characters:
                    raise ChatFailed(f"the answer grew beyond {settings.max_characters} characters and was given up")
                yield Written(piece.text)
    if not text.strip():
        raise EmptyAnswer(f"the chat model {chat.name} ended its answer without a word", finish_reason=finish)
    citations, unknown = citations_of(text, found.passages)
    log.info("answered", model=chat.name, characters=len(text), citations=len(citations), finish_reason=finish)
    yield _completed(found, steps, citations, unknown=unknown, finish_reason=finish, usage=usage)


def _completed(
    found: Found,
    steps: Steps,
    citations: tuple[Citation, ...] = (),
    *,
    unknown: tuple[int, ...] = (),
    finish_reason: str = "stop",
    usage: Usage | None = None,
) -> Completed:
    warnings = list(found.warnings)
    if unknown:
        numbers = ", ".join(map(str, unknown))
        warnings.append(Notice("unknown_citations", f"the model cited numbers that no passage has: {numbers}"))
    if finish_reason in _OF_FINISH:
        warnings.append(_OF_FINISH[finish_reason])
    timings = {"search_ms": found.result.timings_ms["total_ms"], **steps.timings_ms()}
    timings["total_ms"] = round(timings["total_ms"] + timings["search_ms"], 3)
    return Completed(found.mode, citations, unknown, finish_reason, timings, usage, tuple(warnings))
