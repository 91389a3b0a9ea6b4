"""`fuzi serve` with an embedder that has every vector at once, so that writing is measured and not the model.

Everything else is the service's own, its worker and its embedding cache too. Vectors come from a table by the hash of
the text: what is stored has the distances of real vectors, what it means does not matter here.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import numpy as np
import uvicorn

from service.app import create_app
from service.config import LOCAL_DIMENSION, LOCAL_MODEL, Settings
from service.embed import FollowingEmbedder
from service.logs import configure_logs
from service.types import EmbeddingModel, Vector, VectorBatch
from service.wiring import Services, open_services

STUBBED = (sys.executable, "-m", "tests.benchmarks.bench.load.stubbed_serve")
"""The command."""
TABLE = "BENCH_VECTORS"
"""Variable that names a file of vectors `[vector_count, 384]`, length 1."""


class Ready:
    """An ``Embedder`` that mixes two vectors of the table for each text."""

    def __init__(self, table: VectorBatch) -> None:
        self.model = EmbeddingModel("local", LOCAL_MODEL, LOCAL_DIMENSION)
        self._table = table

    async def embed_query(self, text: str) -> Vector:
        """See ``Embedder``."""
        return self._vector(text)

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        """Nothing to prepare."""

    def knows_query(self, text: str) -> bool:
        """Every one."""
        return True

    async def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> VectorBatch:
        """See ``Embedder``."""
        vectors = np.stack([self._vector(text) for text in texts])
        if on_progress is not None:
            on_progress(len(texts))
        return vectors

    async def close(self) -> None:
        """Nothing to close."""

    def _vector(self, text: str) -> Vector:
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        first, second = (int.from_bytes(part) % len(self._table) for part in (digest[:8], digest[8:]))
        share = np.float32(0.2 + 0.6 * digest[0] / 255)
        vector = share * self._table[first] + (1 - share) * self._table[second]
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class _Announcing(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        assert sockets is not None
        print(json.dumps({"url": f"http://127.0.0.1:{sockets[0].getsockname()[1]}"}), flush=True)


@asynccontextmanager
async def _open(settings: Settings) -> AsyncIterator[Services]:
    ready = Ready(np.load(os.environ[TABLE]))
    async with open_services(settings) as services:
        yield replace(services, embedder=FollowingEmbedder(ready, lambda _space: ready))


def main() -> None:
    """Serve on a free port until SIGTERM; the first line on standard output has the URL."""
    settings = Settings(_env_file=None)
    configure_logs(settings.log)
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        config = uvicorn.Config(create_app(settings, _open), lifespan="on", log_config=None, access_log=False)
        _Announcing(config).run(sockets=[listener])  # on the loop that uvicorn chooses, as `fuzi serve`


if __name__ == "__main__":
    main()
