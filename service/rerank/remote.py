"""Scores from a provider over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from service.config import RerankSettings
from service.errors import RerankerUnavailable
from service.http_client import HttpPolicy, ProviderClient, ProviderErrors
from service.in_flight import tasks
from service.metrics import Metrics
from service.rerank.answers import scores_of
from service.rerank.documents import calls, document_text, sendable
from service.rerank.protocol import Reranker
from service.rerank.providers.known import SHAPES
from service.rerank.providers.shape import ProviderShape, RerankRequest
from service.types import Notice, Passage

_ENDPOINTS = frozenset({"rerank", "reranks", "ranking", "reranking", "text-rerank"})
_GRACE_SECONDS = 0.5
"""A call that hangs is ended by its own limit, which the breaker counts; this one ends those that still queue."""


class RemoteReranker(Reranker):
    """A ``Reranker`` over one provider.

    Several calls are merged by score: a cross-encoder scores each pair of query and document alone, so its scores mean
    the same in every call. A listwise model (jina-reranker-v3) sees the documents of a call together: for it a call
    should hold the whole pool.

    Args:
        path: of the endpoint, relative to the client's base URL.
        settings: for the limits, the model's name, and what is sent.
    """

    def __init__(self, shape: ProviderShape, client: ProviderClient, path: str, settings: RerankSettings) -> None:
        self._shape = shape
        self._client = client
        self._path = path
        self._settings = settings
        self._batch_size = settings.batch_size or shape.largest_batch
        self._failed = False

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_n: int, *, explain: bool = False
    ) -> list[Passage]:
        """See ``Reranker``: it gives no reasons. All calls of all tries together get ``timeout_seconds``."""
        try:
            scores = await self._scores_in_time(query, passages, top_n)
        except RerankerUnavailable:
            self._failed = True
            raise
        self._failed = False
        # Equal scores keep the fused order, and so do passages without one, at the end.
        best_first = sorted(range(len(passages)), key=lambda at: (at not in scores, -scores.get(at, 0), at))
        return [replace(passages[at], rerank_score=scores.get(at)) for at in best_first[:top_n]]

    def notices(self) -> list[Notice]:
        """See ``Reranker``: how the last search fared; what the provider said is for the log only."""
        if not self._failed:
            return []
        message = f"the {self._shape.name} reranker failed when last asked; meanwhile passages are in fused order"
        return [Notice("rerank_unavailable", message)]

    async def close(self) -> None:
        """See ``Reranker``."""
        await self._client.close()

    async def _scores_in_time(self, query: str, passages: Sequence[Passage], top_n: int) -> dict[int, float]:
        seconds = self._settings.timeout_seconds
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                return await self._scores(query, passages, top_n)
        except TimeoutError as error:
            message = f"{self._shape.name} reranker: its queue left no time for scores within {seconds:g} s"
            raise RerankerUnavailable(message) from error

    async def _scores(self, query: str, passages: Sequence[Passage], top_n: int) -> dict[int, float]:
        """Scores by position; each call is asked for its best ``top_n``, among which are the best of all."""
        longest, context = self._shape.longest_text, self._settings.heading_context
        question = sendable(query, longest)
        documents = [document_text(passage, longest, heading_context=context) for passage in passages]
        async with tasks() as group:
            asked = [
                (part.start, group.create_task(self._call(question, documents[part.start : part.stop], top_n)))
                for part in calls(question, documents, self._batch_size, self._shape.largest_call)
            ]
        return {start + index: score for start, task in asked for index, score in task.result().items()}

    async def _call(self, query: str, documents: Sequence[str], top_n: int) -> dict[int, float]:
        request = RerankRequest(self._settings.model, query, documents, min(top_n, len(documents)))
        answer = await self._client.post_json(self._path, self._shape.write(request))
        return scores_of(self._shape.read(answer), self._shape.score, len(documents))


def create_remote(settings: RerankSettings, metrics: Metrics | None = None) -> RemoteReranker:
    """The reranker of a provider over HTTP.

    Raises:
        Misconfigured: its URL is none.
    """
    shape = SHAPES[settings.provider]
    base_url, path = endpoint(shape, settings.base_url)
    client = ProviderClient(
        f"{shape.name} reranker",
        base_url,
        ProviderErrors(RerankerUnavailable, RerankerUnavailable),
        api_key=settings.api_key,
        policy=policy_of(settings),
        recognise=shape.recognise,
        metrics=metrics,
    )
    return RemoteReranker(shape, client, path, settings)


def policy_of(settings: RerankSettings) -> HttpPolicy:
    """Somebody waits for the search: one more try at most, no long pause, and nothing while the breaker is open."""
    return HttpPolicy(
        timeout_seconds=settings.timeout_seconds,
        total_timeout_seconds=settings.timeout_seconds,
        attempts=2,
        concurrency=settings.concurrency,
        first_wait_seconds=0.1,
        longest_wait_seconds=1,
        breaker_failures=5,
        wait_while_open=False,
    )


def endpoint(shape: ProviderShape, base_url: str | None) -> tuple[str, str]:
    """Base URL and path below it; a base URL that names the endpoint itself is taken at its word.

    NVIDIA's public endpoints have a path of their own for each model, and Cohere's shape is served under many.
    """
    url = (base_url or shape.base_url or "").rstrip("/")
    stem, _, last = url.rpartition("/")
    return (stem, last) if last in _ENDPOINTS else (url, shape.path)
