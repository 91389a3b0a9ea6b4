"""FILL FLOW: read chunks that lack a vector → embed → write, page by page, until none is left; or copy its vector."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.engine import writing
from service.db.spaces.rows_to_fill import ChunkToFill, copy_to_standby, count_chunks, missing_after, write_standby
from service.embed import CachedEmbedder
from service.embed.passage_text import passage_text
from service.errors import FuziError
from service.in_flight import tasks

log = structlog.get_logger()

type Progress = Callable[[int, int], None]
"""Called with the chunks that have their vector, and all chunks."""

# A page is one statement, and so one segment of the BM25 index; the pages in flight are what a crash makes the provider
# embed once more.
_PAGE = 200
_PAGES_IN_FLIGHT = 2
_COPIED_AT_ONCE = 500
_PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Filled:
    """Chunks that got their vector, and texts for which the model was asked; the rest came from the cache."""

    filled_count: int
    embedded_count: int


async def fill(engine: AsyncEngine, embedder: CachedEmbedder, *, heading_context: bool, progress: Progress) -> Filled:
    """Give every child chunk its standby vector; ``heading_context`` is for collections that have none of their own.

    No transaction is open while the model works. Chunks that come meanwhile are filled by the next pass; a chunk that
    goes meanwhile is not missed.

    Raises:
        EmbeddingFailed, Unavailable: the model does not answer. What was embedded is kept: call it again.
    """
    filled = embedded = 0
    while True:
        async with engine.connect() as connection:
            total, missing = await count_chunks(connection)
        progress(total - missing, total)
        if not missing:
            return Filled(filled, embedded)
        passed = _Pass(engine, embedder, heading_context=heading_context, progress=progress)
        await passed.run(total, missing)
        filled += passed.filled
        embedded += passed.embedded
        if not passed.filled:
            # all that is left is just being replaced by new versions of its documents
            await asyncio.sleep(_PAUSE_SECONDS)


async def copy_all(engine: AsyncEngine, *, progress: Progress) -> int:
    """Give every child chunk its vector in the type of the standby column; return how many got it. Asks no model.

    Chunks that come or go meanwhile: see `fill`.
    """
    copied = 0
    while True:
        async with engine.connect() as connection:
            total, missing = await count_chunks(connection)
        progress(total - missing, total)
        if not missing:
            return copied
        before = copied
        after: int | None = 0
        while after is not None:
            async with writing(engine) as connection:
                written, after = await copy_to_standby(connection, after, _COPIED_AT_ONCE)
            copied += written
            progress(min(total, total - missing + copied - before), total)
        if copied == before:
            await asyncio.sleep(_PAUSE_SECONDS)


class _Pass:
    """One walk over all chunks that lack a vector, by id."""

    def __init__(
        self, engine: AsyncEngine, embedder: CachedEmbedder, *, heading_context: bool, progress: Progress
    ) -> None:
        self.filled = self.embedded = 0
        self._engine = engine
        self._embedder = embedder
        self._heading_context = heading_context
        self._progress = progress
        self._after = 0
        self._reading = asyncio.Lock()

    async def run(self, total: int, missing: int) -> None:
        """Walk with several pages in flight; the first failure stops all and is raised as itself."""

        async def pull() -> None:
            while page := await self._next():
                await self._fill(page)
                self._progress(min(total, total - missing + self.filled), total)

        async with tasks() as group:
            for _ in range(_PAGES_IN_FLIGHT):
                group.create_task(pull())

    async def _next(self) -> list[ChunkToFill]:
        async with self._reading, self._engine.connect() as connection:
            page = await missing_after(connection, self._after, _PAGE)
            self._after = page[-1].id if page else self._after
            return page

    async def _fill(self, page: list[ChunkToFill]) -> None:
        texts = [self._text(chunk) for chunk in page]
        try:
            embedded = await self._embedder.embed_and_count(texts)
        except FuziError as failure:
            position = failure.details.get("position")
            if position is None:
                raise
            chunk = page[position]
            details = {**failure.details, "child_id": chunk.id, "source": chunk.source}
            raise type(failure)(f"chunk {chunk.id} of {chunk.source}: {failure.message}", **details) from failure
        self.embedded += embedded.embedded_count
        async with writing(self._engine) as connection:
            written = await write_standby(connection, [chunk.id for chunk in page], embedded.vectors)
        self.filled += written

    def _text(self, chunk: ChunkToFill) -> str:
        """The very text that ingestion embeds for this chunk."""
        own = chunk.own_heading_context
        title = chunk.title if (self._heading_context if own is None else own) else None
        return passage_text(chunk.content, chunk.embedding_prefix, title, chunk.heading_path)
