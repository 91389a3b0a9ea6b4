"""A real HTTP server on loopback that embeds, and misbehaves as scripted.

with EmbeddingServer(dimension=3) as server:
    server.script(Answer(429, headers={"Retry-After": "1"}), Vectors())
    ...  # against server.url
    assert server.requests[0].texts == ["猫"]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fakes.scripted_server import (
    Answer,
    Behaviour,
    Cut,
    Handler,
    Hang,
    Request,
    ScriptedServer,
    Slow,
    Trickle,
)

__all__ = [
    "Answer",
    "Behaviour",
    "Cut",
    "EmbeddingServer",
    "Handler",
    "Hang",
    "Request",
    "Slow",
    "Trickle",
    "Vectors",
    "refuse_more_than",
    "refuse_text",
    "require_input_type",
]


@dataclass(frozen=True)
class Vectors:
    """Good vectors, unless told otherwise.

    Attributes:
        order: positions in the order in which they are listed (``index`` stays right); may leave out or repeat some.
        change: alters the finished JSON-ready answer.
    """

    order: Callable[[int], Sequence[int]] = range
    change: Callable[[dict[str, Any]], Any] = lambda answer: answer

    def act(self, handler: Handler, request: Request) -> None:
        owner = handler.owner
        assert isinstance(owner, EmbeddingServer)
        vectors = [owner.vector_of(text) for text in request.texts]
        listed = self.order(len(vectors))
        if request.path.endswith("/api/embed"):
            answer: dict[str, Any] = {"model": request.body.get("model"), "embeddings": [vectors[at] for at in listed]}
        else:
            data = [{"object": "embedding", "index": at, "embedding": vectors[at]} for at in listed]
            answer = {"object": "list", "data": data, "model": request.body.get("model")}
        handler.answer(200, json.dumps(self.change(answer)).encode())


def refuse_more_than(largest: int) -> Callable[[Request], Behaviour | None]:
    """Rule: 400 for more than ``largest`` inputs."""

    def rule(request: Request) -> Behaviour | None:
        if len(request.texts) <= largest:
            return None
        return Answer(400, {"error": {"message": f"batch size is invalid, it should not be larger than {largest}."}})

    return rule


def refuse_text(part: str) -> Callable[[Request], Behaviour | None]:
    """Rule: 400 for a request with a text that contains ``part``."""

    def rule(request: Request) -> Behaviour | None:
        if not any(part in text for text in request.texts):
            return None
        return Answer(400, {"error": {"message": "input contains a text that cannot be embedded"}})

    return rule


def require_input_type(request: Request) -> Behaviour | None:
    """Rule: 400 without ``input_type``, as NVIDIA's asymmetric models answer."""
    if request.body.get("input_type") in {"query", "passage"}:
        return None
    return Answer(400, {"error": {"message": "'input_type' parameter is required for asymmetric models"}})


class EmbeddingServer(ScriptedServer):
    """Gives good vectors unless told otherwise."""

    def __init__(self, dimension: int = 8, vector_of: Callable[[str], list[float]] | None = None) -> None:
        super().__init__(Vectors())
        self.dimension = dimension
        self.vector_of = vector_of or self._spelling

    def _spelling(self, text: str) -> list[float]:
        vector = np.zeros(self.dimension)
        for place, character in enumerate(text):
            vector[(ord(character) + place) % self.dimension] += 1
        return [float(number) for number in vector / np.linalg.norm(vector)]
