"""A real HTTP server on loopback that reranks in any provider's shape, and misbehaves as scripted.

    with RerankServer({"甲": 0.4, "丙": 0.9}) as server:
        server.script(Answer(500))
        ...  # against server.address("tei")
        assert documents_of(server.requests[0]) == ["甲", "丙"]

A good answer has the score of the first known word that a document contains, best document first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.scripted_server import Answer, Handler, Request, ScriptedServer

PATHS = {
    "cohere": "/v2/rerank",
    "jina": "/v1/rerank",
    "tei": "/rerank",
    "nvidia": "/v1/ranking",
    "dashscope": "/api/v1/services/rerank/text-rerank/text-rerank",
}


def provider_of(request: Request) -> str:
    [name] = [name for name, path in PATHS.items() if path == request.path]
    return name


def documents_of(request: Request) -> list[str]:
    """The texts that a request wants scored."""
    body = request.body.get("input", request.body)
    if "passages" in body:
        return [passage["text"] for passage in body["passages"]]
    return list(body["texts"] if "texts" in body else body["documents"])


def query_of(request: Request) -> str:
    query = request.body.get("input", request.body)["query"]
    return str(query["text"] if isinstance(query, dict) else query)


def top_n_of(request: Request) -> int | None:
    """How many scores a request asks for; None when it does not say, as the shape has it or not."""
    top_n = request.body.get("parameters", request.body).get("top_n")
    return None if top_n is None else int(top_n)


def answer_of(provider: str, scores: Mapping[int, Any]) -> Any:
    """A body in this provider's shape, JSON-ready."""
    key = {"tei": "score", "nvidia": "logit"}.get(provider, "relevance_score")
    rows = [{"index": index, key: score} for index, score in scores.items()]
    match provider:
        case "tei":
            return rows
        case "nvidia":
            return {"rankings": rows}
        case "dashscope":
            return {"output": {"results": rows}, "usage": {"total_tokens": 9}, "request_id": "x"}
        case _:
            return {"results": rows, "usage": {"total_tokens": 9}}


class Scores:
    """Good scores; what a request may not ask for is refused as real servers do."""

    def act(self, handler: Handler, request: Request) -> None:
        owner = handler.owner
        assert isinstance(owner, RerankServer)
        documents, provider = documents_of(request), provider_of(request)
        top_n = top_n_of(request)
        refusal = None if provider in {"tei", "nvidia"} else _impossible(top_n, len(documents))
        if refusal is not None or not documents:
            Answer(400, {"error": {"message": refusal or "no documents"}}).act(handler, request)
            return
        scores = {at: owner.score_of(text) for at, text in enumerate(documents)}
        best = sorted(scores, key=lambda at: -scores[at])[:top_n]
        handler.answer(200, json.dumps(answer_of(provider, {at: scores[at] for at in best})).encode())


def _impossible(top_n: int | None, count: int) -> str | None:
    if top_n is None:
        return "top_n is missing"
    return None if 1 <= top_n <= count else f"top_n must be between 1 and {count}"


class RerankServer(ScriptedServer):
    """Knows one score a word."""

    def __init__(self, scores: Mapping[str, float] | None = None) -> None:
        super().__init__(Scores())
        self.scores = dict(scores or {})

    def address(self, provider: str) -> str:
        """The base URL for a provider of this name."""
        return self.root + {"cohere": "/v2", "tei": "", "dashscope": "/api/v1"}.get(provider, "/v1")

    def score_of(self, text: str) -> float:
        return next((score for word, score in self.scores.items() if word in text), 0.0)
