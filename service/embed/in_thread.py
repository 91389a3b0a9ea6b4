"""The embedder for code that waits in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from service.embed.protocol import Embedder
from service.types import VectorBatch


def in_thread(embedder: Embedder) -> Callable[[Sequence[str]], VectorBatch]:
    """``embed_passages`` as the pure, synchronous splitter can call it from its thread, for soft cuts.

    To be called on the event loop, which does the embedding.
    """
    loop = asyncio.get_running_loop()
    return lambda texts: asyncio.run_coroutine_threadsafe(embedder.embed_passages(texts), loop).result()
