"""Change to another embedding model, back again, or give the second one up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config import EmbedSettings
from service.db.bm25.compact import compact_children
from service.db.bm25.connection import guard_connection
from service.db.spaces import EmbeddingSpace, active_space, standby_space
from service.db.spaces.briefly import briefly
from service.db.spaces.column import (
    add_column,
    drop_column,
    has_column,
    index_missing,
    index_vectors,
    is_indexed,
    vacuum,
)
from service.db.spaces.rows import enter_standby, forget_vectors, leave_standby, note_active_url
from service.db.spaces.rows_to_fill import count_chunks
from service.db.spaces.switch import functions_to_rebind, needs_tidying, require, switch, validate
from service.embed import CachedEmbedder
from service.embed.following import BuildEmbedder
from service.embed.providers.known import own_url
from service.errors import Conflict
from service.flows.reembed.fill import fill
from service.store.embedding_cache import DatabaseEmbeddingCache

log = structlog.get_logger()

ALONE = 0x7265656D  # "reem": any number will do, as long as all of them take the same
_TAKE_LOCK = text("select pg_try_advisory_lock(:lock)")
# Rows written that make it worth to clear up again. 11,920 chunks: 23 BM25 segments after filling, 13 after vacuum, 4
# after the rebuild, and searches (load 13) from 61 to 34 to 10 ms.
_MANY_REWRITTEN = 1000


class Watch(Protocol):
    """Hears how far a change is."""

    def stage(self, words: str) -> None:
        """What is done now."""

    def filled(self, done: int, total: int) -> None:
        """Chunks with their new vector, and all chunks."""


@dataclass(frozen=True, slots=True)
class ReembedParts:
    """What a change of the model works with."""

    engine: AsyncEngine
    settings: EmbedSettings
    build: BuildEmbedder


@dataclass(frozen=True, slots=True)
class SpacesState:
    """Both spaces as they are now; counts are child chunks.

    ``is_indexed`` and ``missing_count`` are of the standby space.
    """

    active: EmbeddingSpace
    standby: EmbeddingSpace | None
    chunk_count: int = 0
    missing_count: int = 0
    is_indexed: bool = False
    needs_tidying: bool = False


@dataclass(slots=True)
class Done:
    """What a change did; nothing when the model was ``already_active``.

    ``bm25_segments`` are those before and after the index was made compact.
    """

    switched: bool = False
    already_active: bool = False
    filled_count: int = 0
    embedded_count: int = 0
    bm25_segments: tuple[int, int] | None = None
    state: SpacesState | None = field(default=None)


async def reembed(parts: ReembedParts, space: EmbeddingSpace, watch: Watch, *, and_switch: bool = True) -> Done:
    """Fill and index a second space, then switch to it; call it again after any interruption.

    Searches and uploads go on all the while, with the old model until the switch. The old vectors stay on standby.

    Args:
        and_switch: False stops when everything is ready to switch.

    Raises:
        Conflict: another model is on standby, another `reembed` runs, or the table was never free for a moment.
        EmbeddingFailed, Unavailable: the model does not answer; nothing is lost.
    """
    engine, done = parts.engine, Done()
    async with _alone(engine):
        await _tidy(engine, watch)
        async with engine.connect() as connection:
            active = await active_space(connection)
        done.already_active = active.model == space.model
        if not done.already_active:
            watch.stage("making room")
            await briefly(engine, lambda connection: _enter(connection, space, parts.settings))
            await index_missing(engine)
            await _prepare(parts, space, watch, done)
            if and_switch:
                await _switch(parts, space, watch, done)
        done.state = await spaces_state(engine)
    return done


async def rollback(parts: ReembedParts, watch: Watch) -> Done:
    """Switch back to the model that was active before; chunks that came since get its vectors first.

    Raises:
        Conflict: there is no such model; and see `reembed`.
    """
    async with parts.engine.connect() as connection:
        space = await standby_space(connection)
    if space is None:
        raise Conflict("no former model is kept; `fuzi reembed` can change to any model anew")
    if space.activated_at is None:
        raise Conflict(
            f"{space.title} was never active, so there is no way back to it: `fuzi reembed` goes on with it, "
            "`fuzi reembed --drop-old` gives it up"
        )
    return await reembed(parts, space, watch)


async def drop_old(engine: AsyncEngine) -> EmbeddingSpace | None:
    """Drop the standby space, its index and its cached vectors; None when there is none. Searches go on.

    Raises:
        Conflict: a `reembed` runs, something of others is bound to the column, or the table was never free.
    """
    async with _alone(engine):
        async with engine.connect() as connection:
            space = await standby_space(connection)
        if space is not None:
            await briefly(engine, lambda connection: _drop(connection, space))
            await forget_vectors(engine, space)
        return space


async def spaces_state(engine: AsyncEngine) -> SpacesState:
    """Both spaces as they are now; counts all chunks when there are two."""
    async with engine.connect() as connection:
        await connection.execute(text("set local statement_timeout = 0"))
        active, standby = await active_space(connection), await standby_space(connection)
        if standby is None or not await has_column(connection):
            return SpacesState(active, standby, needs_tidying=await needs_tidying(connection))
        total, missing = await count_chunks(connection)
        return SpacesState(
            active, standby, total, missing, await is_indexed(connection), await needs_tidying(connection)
        )


async def _enter(connection: AsyncConnection, space: EmbeddingSpace, settings: EmbedSettings) -> None:
    await functions_to_rebind(connection)  # what stands in the way of a switch is said before hours of work
    active = await active_space(connection)
    model = active.model
    if (model.provider, model.name, model.dimension) == (settings.provider, settings.model, settings.dimension):
        await note_active_url(connection, settings.base_url or own_url(settings.provider))
    await enter_standby(connection, space)
    await add_column(connection, space.model, model)


async def _prepare(parts: ReembedParts, space: EmbeddingSpace, watch: Watch, done: Done) -> None:
    """Fill, mend what filling did to the table and the BM25 index, and index the vectors."""
    engine = parts.engine
    await _fill(parts, space, watch, done)
    async with engine.connect() as connection:
        first_time = not await is_indexed(connection)
    if first_time or done.filled_count >= _MANY_REWRITTEN:
        watch.stage("clearing up: vacuum, BM25 index")
        await vacuum(engine)
        done.bm25_segments = await compact_children(engine)
    watch.stage("indexing the vectors")
    await index_vectors(engine, space.model)
    await _fill(parts, space, watch, done)


async def _switch(parts: ReembedParts, space: EmbeddingSpace, watch: Watch, done: Done) -> None:
    watch.stage("switching")
    while not await briefly(parts.engine, switch):
        await _fill(parts, space, watch, done)
        watch.stage("switching")
    done.switched = True
    log.warning("embedding_model_switched", model=space.title)
    await _tidy(parts.engine, watch)


async def _tidy(engine: AsyncEngine, watch: Watch) -> None:
    """Let the active column refuse null again, without a scan under the table's lock; a switch may have left it so."""
    async with engine.connect() as connection:
        if not await needs_tidying(connection):
            return
    watch.stage("proving that every chunk has its vector")
    await briefly(engine, validate)
    await briefly(engine, require)


async def _fill(parts: ReembedParts, space: EmbeddingSpace, watch: Watch, done: Done) -> None:
    watch.stage("embedding")
    embedder = parts.build(space)
    try:
        cached = CachedEmbedder(embedder, DatabaseEmbeddingCache(parts.engine, space.model))
        filled = await fill(parts.engine, cached, heading_context=parts.settings.heading_context, progress=watch.filled)
        done.filled_count += filled.filled_count
        done.embedded_count += filled.embedded_count
    finally:
        await embedder.close()


async def _drop(connection: AsyncConnection, space: EmbeddingSpace) -> None:
    active = await active_space(connection)
    await drop_column(connection, active.model)
    await leave_standby(connection, space)


@asynccontextmanager
async def _alone(engine: AsyncEngine) -> AsyncIterator[None]:
    """One change at a time; the lock ends with this process, however it ends."""
    async with guard_connection(engine) as connection:
        if not await connection.scalar(_TAKE_LOCK, {"lock": ALONE}):
            raise Conflict("another `fuzi reembed` is at work on this database; `fuzi reembed --status` shows how far")
        yield
