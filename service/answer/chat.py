"""A chat model behind an OpenAI-compatible server: messages → pieces of text, as they are written."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.answer.surrogates import Surrogates
from service.answer.thinking import WithoutThinking
from service.config import ChatSettings
from service.errors import ChatFailed, ChatUnavailable
from service.event_stream import ServerEvent
from service.http_client import HttpPolicy, ProviderClient, ProviderErrors, body_error
from service.metrics import Metrics
from service.types import Usage

_PATH = "chat/completions"


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """What the model said next; ``finish_reason`` and ``usage`` come near the end, each once."""

    text: str = ""
    finish_reason: str | None = None
    usage: Usage | None = None


class ChatModel:
    """One chat model; its limits are shared by all answers of this process."""

    def __init__(self, settings: ChatSettings, client: ProviderClient) -> None:
        self._settings = settings
        self._client = client

    @property
    def name(self) -> str:
        """The model's name at its server."""
        return self._settings.model or ""

    async def write(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[ChatPiece]:
        """Yield what the model writes. Closing the iterator ends the call.

        Thoughts of reasoning models are left out. When this ends by itself, the model had ended its answer: a stream
        that merely stops is an error.

        Raises:
            ChatUnavailable: no answer in time, or it broke off; what was yielded stays incomplete.
            ChatFailed: the server refuses, or what it sends cannot be understood.
        """
        body = {
            "model": self.name,
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self._settings.max_tokens,
            "temperature": 0,
            **self._settings.extra_body,
        }
        body = {name: value for name, value in body.items() if value is not None}
        surrogates, thinking, is_ended = Surrogates(), WithoutThinking(), False
        async with self._client.post_for_events(_PATH, body) as events:
            async for event in events:
                if event.data.strip() == "[DONE]":
                    is_ended = True
                    break
                for piece in self._pieces(event):
                    text = thinking.feed(surrogates.feed(piece.text))
                    is_ended = is_ended or piece.finish_reason is not None
                    if text or piece.finish_reason is not None or piece.usage is not None:
                        yield ChatPiece(text, piece.finish_reason, piece.usage)
        if not is_ended:
            raise ChatUnavailable(f"the chat model {self.name} broke off in the middle of its answer")
        rest = thinking.feed(surrogates.end()) + thinking.end()
        if rest:
            yield ChatPiece(rest)

    def _pieces(self, event: ServerEvent) -> list[ChatPiece]:
        """What one event says. Fields that other servers add are not looked at."""
        try:
            chunk = json.loads(event.data)
        except (ValueError, RecursionError):
            chunk = None
        found = body_error(chunk)
        if found is not None or event.name == "error":
            told = self._client.safe(found.message if found else event.data)
            raise ChatFailed(f"the chat model gave up: {told}")
        if not isinstance(chunk, dict):
            raise ChatFailed(f"the chat server sent what is no JSON object: {self._client.safe(event.data)}")
        try:
            return [*_of_choices(chunk.get("choices") or []), *_of_usage(chunk.get("usage"))]
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            told = self._client.safe(event.data)
            raise ChatFailed(f"the chat server sent what no OpenAI-compatible one does: {told}") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def create_chat(settings: ChatSettings, metrics: Metrics | None = None) -> ChatModel | None:
    """The chat model these settings name, None without one. Nothing is called before the first question.

    Raises:
        Misconfigured: its URL is none.
    """
    if settings.base_url is None:
        return None
    client = ProviderClient(
        "chat",
        settings.base_url.removesuffix("/").removesuffix(f"/{_PATH}"),
        ProviderErrors(ChatUnavailable, ChatFailed),
        api_key=settings.api_key,
        policy=HttpPolicy.of(settings),
        metrics=metrics,
    )
    return ChatModel(settings, client)


def _of_choices(choices: Sequence[Mapping[str, Any]]) -> list[ChatPiece]:
    if not choices:
        return []
    delta = choices[0].get("delta") or {}
    content, finish = delta.get("content"), choices[0].get("finish_reason")
    if not isinstance(content, str | None) or not isinstance(finish, str | None):
        raise TypeError
    return [ChatPiece(content or "", finish or None)] if content or finish else []


def _of_usage(usage: Mapping[str, Any] | None) -> list[ChatPiece]:
    if not usage:
        return []
    return [ChatPiece(usage=Usage(int(usage["prompt_tokens"]), int(usage.get("completion_tokens") or 0)))]
