"""What an adapter knows about its provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.errors import RerankerUnavailable
from service.http_client import BodyError, body_error
from service.types import JsonObject


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """Texts to score against a query. ``top_n`` is never above their number; ``model`` is None where none is named."""

    model: str | None
    query: str
    documents: Sequence[str]
    top_n: int


@dataclass(frozen=True, slots=True)
class ProviderShape:
    """One provider's way of speaking.

    Attributes:
        base_url: used when the settings name none; ``None`` where there is no public one.
        path: relative to the base URL.
        largest_batch: documents a call when the settings name no other number.
        longest_text: characters of a query or document that are sent at most.
        largest_call: characters of all query-document pairs of a call at most.
        write: the JSON body of a request.
        read: the rows of an answer, each an object with an ``index``.
        score: the key of a row's score.
        recognise: finds an error in an answer.
    """

    name: str
    base_url: str | None
    path: str
    largest_batch: int
    longest_text: int
    largest_call: int
    write: Callable[[RerankRequest], JsonObject]
    read: Callable[[Any], Any]
    score: str
    recognise: Callable[[Any], BodyError | None] = body_error


def within(answer: Any, *keys: str) -> Any:
    """What lies below ``keys``, one after the other.

    Raises:
        RerankerUnavailable: one of them is missing.
    """
    for key in keys:
        if not isinstance(answer, Mapping) or key not in answer:
            raise RerankerUnavailable(f"the rerank answer has no `{key}`")
        answer = answer[key]
    return answer
