"""Passages → an answer with citations: numbered context, a chat model or the best sentences, resolved numbers."""

from service.answer.chat import ChatModel, ChatPiece, create_chat
from service.answer.citations import citations_of
from service.answer.context import number_passages
from service.answer.extractive import best_sentences
from service.answer.history import recent_turns, search_query
from service.answer.prompts import in_chinese, messages_for, nothing_found

__all__ = [
    "ChatModel",
    "ChatPiece",
    "best_sentences",
    "citations_of",
    "create_chat",
    "in_chinese",
    "messages_for",
    "nothing_found",
    "number_passages",
    "recent_turns",
    "search_query",
]
