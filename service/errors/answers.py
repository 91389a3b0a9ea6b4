"""What keeps a chat model from answering."""

from __future__ import annotations

from service.errors.parts import Unavailable
from service.errors.requests import NotFound
from service.errors.root import FuziError


class ChatUnavailable(Unavailable):
    """The chat model does not answer, or broke off in the middle of an answer."""

    code = "chat_unavailable"


class ChatFailed(FuziError):
    """The chat model refuses, or answers what is no use; trying again will not help."""

    code = "chat_failed"
    http_status = 502


class EmptyAnswer(ChatFailed):
    """The chat model ended its answer without a word."""

    code = "empty_answer"
    retryable = True


class AnswerNotHeld(NotFound):
    """The answer to go on with is not held any more, or was given by another process; ask again."""

    code = "answer_not_held"
