"""What an adapter knows about its provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from service.http_client import BodyError, body_error
from service.types import JsonObject

type Purpose = Literal["query", "passage"]


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to embed for one purpose; ``dimension`` is ``None`` unless the provider is to be asked for it."""

    model: str
    texts: Sequence[str]
    purpose: Purpose
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class ProviderShape:
    """One provider's way of speaking.

    Attributes:
        base_url: used when the settings name none; ``None`` where there is no public one.
        path: relative to the base URL.
        largest_batch: texts the provider takes in one call.
        needs_key: at ``base_url``, every call needs a key.
        write: the JSON body of a request.
        read: the vectors of an answer for ``count`` texts, in the order of the texts.
        recognise: finds an error in an answer.
    """

    name: str
    base_url: str
    path: str
    largest_batch: int
    needs_key: bool
    write: Callable[[EmbeddingRequest], JsonObject]
    read: Callable[[Any, int], list[Any]]
    recognise: Callable[[Any], BodyError | None] = body_error
