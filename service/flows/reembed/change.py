"""Change to another embedding model, back again, or give the second one up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.config import EmbedSettings
from service.db.bm25.compact import compact_children
from service.db.spaces import STANDBY_COLUMN, EmbeddingSpace, active_space, standby_space
from service.db.spaces.alone import alone
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
from service.db.spaces.deferred import build_deferred
from service.db.spaces.rows import enter_standby, forget_vectors, leave_standby, note_active_url
from service.db.spaces.rows_to_fill import count_chunks
from service.db.spaces.switch import functions_to_rebind, needs_tidying, require, switch, validate
from service.db.spaces.vector_type import VectorType, asks_for_another, stored_type
from service.embed import CachedEmbedder
from service.embed.following import BuildEmbedder
from service.embed.providers.known import own_url
from service.errors import Conflict
from service.flows.reembed.fill import copy_all, fill
from service.store.embedding_cache import DatabaseEmbeddingCache

log = structlog.get_logger()

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

    ``is_indexed`` and ``missing_count`` are of the standby column. ``standby_type`` without ``standby``: the vectors in
    use are being copied into another type.
    """

    active: EmbeddingSpace
    standby: EmbeddingSpace | None
    active_type: VectorType | None = None
    standby_type: VectorType | None = None
    chunk_count: int = 0
    missing_count: int = 0
    is_indexed: bool = False
    needs_tidying: bool = False


@dataclass(slots=True)
class Done:
    """What a change did; nothing when the model was ``already_active``.

    ``copied``: the model stayed, its vectors have another type. ``bm25_segments`` are those before and after the index
    was made compact.
    """

    switched: bool = False
    copied: bool = False
    already_active: bool = False
    filled_count: int = 0
    embedded_count: int = 0
    bm25_segments: tuple[int, int] | None = None
    state: SpacesState | None = field(default=None)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change under way. ``copies``: to the same model's vectors in another type, so that no model is asked."""

    parts: ReembedParts
    space: EmbeddingSpace
    watch: Watch
    done: Done
    copies: bool


async def reembed(parts: ReembedParts, space: EmbeddingSpace, watch: Watch, *, and_switch: bool = True) -> Done:
    """Fill and index a second space, then switch to it; call it again after any interruption.

    Searches and uploads go on all the while, with the old model until the switch. The old vectors stay on standby.
    To the active model there is nothing to do, unless the settings name another type for its vectors: these are copied
    into it then, not embedded, and the former ones dropped.

    Args:
        and_switch: False stops when everything is ready to switch.

    Raises:
        Conflict: another model is on standby, another `reembed` runs, or the table was never free for a moment.
        Misconfigured: no index can hold the vectors in the type of the settings.
        EmbeddingFailed, Unavailable: the model does not answer; nothing is lost.
    """
    engine, done = parts.engine, Done()
    async with _alone(engine):
        await _tidy(engine, watch)
        async with engine.connect() as connection:
            same_model = (await active_space(connection)).model == space.model
            stored = await stored_type(connection)
        done.copied = same_model and stored is not None and asks_for_another(parts.settings, stored)
        done.already_active = same_model and not done.copied
        if not done.already_active:
            change = _Change(parts, space, watch, done, done.copied)
            watch.stage("making room")
            await briefly(engine, lambda connection: _enter(connection, change))
            await index_missing(engine)
            await _prepare(change)
            if and_switch:
                await _switch(change)
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

    A copy into another type that was broken off is dropped as well.

    Raises:
        Conflict: a `reembed` runs, something of others is bound to the column, or the table was never free.
    """
    async with _alone(engine):
        async with engine.connect() as connection:
            space, present = await standby_space(connection), await has_column(connection)
        if space is not None or present:
            await briefly(engine, lambda connection: _drop(connection, space))
        if space is not None:
            await forget_vectors(engine, space)
        return space


async def spaces_state(engine: AsyncEngine) -> SpacesState:
    """Both spaces as they are now; counts all chunks when there are two."""
    async with engine.connect() as connection:
        await connection.execute(text("set local statement_timeout = 0"))
        active, standby = await active_space(connection), await standby_space(connection)
        types = await stored_type(connection), await stored_type(connection, STANDBY_COLUMN)
        tidying = await needs_tidying(connection)
        if types[1] is None:
            return SpacesState(active, standby, *types, needs_tidying=tidying)
        return SpacesState(
            active, standby, *types, *await count_chunks(connection), await is_indexed(connection), tidying
        )


async def _enter(connection: AsyncConnection, change: _Change) -> None:
    await functions_to_rebind(connection)  # what stands in the way of a switch is said before hours of work
    active, standby = await active_space(connection), await standby_space(connection)
    settings, model = change.parts.settings, active.model
    if standby is None and await has_column(connection) and not await _goes_on(connection, change):
        await drop_column(connection, model)  # a copy that was broken off, and is not wanted any more
    if not change.copies:
        if (model.provider, model.name, model.dimension) == (settings.provider, settings.model, settings.dimension):
            await note_active_url(connection, settings.base_url or own_url(settings.provider))
        await enter_standby(connection, change.space)
    elif standby is not None:
        raise Conflict(
            f"a second space is kept for {standby.title}; drop it first (`fuzi reembed --drop-old`), there is room for "
            f"one: then `fuzi reembed` makes the vectors {settings.vector_type}"
        )
    await add_column(connection, change.space.model, settings, model)


async def _goes_on(connection: AsyncConnection, change: _Change) -> bool:
    """Whether the standby column is what an earlier run of this very copy left."""
    return change.copies and await stored_type(connection, STANDBY_COLUMN) == change.parts.settings.vector_type


async def _prepare(change: _Change) -> None:
    """Fill, mend what filling did to the table and the BM25 index, and index the vectors."""
    engine, done = change.parts.engine, change.done
    await _fill(change)
    async with engine.connect() as connection:
        first_time = not await is_indexed(connection)
    if first_time or done.filled_count >= _MANY_REWRITTEN:
        change.watch.stage("clearing up: vacuum, BM25 index")
        await vacuum(engine)
        done.bm25_segments = await compact_children(engine)
    change.watch.stage("indexing the vectors")
    await index_vectors(engine)
    await _fill(change)


async def _switch(change: _Change) -> None:
    engine = change.parts.engine
    change.watch.stage("switching")
    while not await briefly(engine, partial(switch, same_model=change.copies)):
        await _fill(change)
        change.watch.stage("switching")
    change.done.switched = True
    log.warning("vectors_copied" if change.copies else "embedding_model_switched", model=change.space.title)
    await _tidy(engine, change.watch)


async def _tidy(engine: AsyncEngine, watch: Watch) -> None:
    """Let the active column refuse null again, without a scan under the table's lock; a switch may have left it so."""
    async with engine.connect() as connection:
        if not await needs_tidying(connection):
            return
    watch.stage("proving that every chunk has its vector")
    await briefly(engine, validate)
    await briefly(engine, require)


async def _fill(change: _Change) -> None:
    parts, watch, done = change.parts, change.watch, change.done
    if change.copies:
        watch.stage("copying the vectors")
        done.filled_count += await copy_all(parts.engine, progress=watch.filled)
        return
    watch.stage("embedding")
    embedder = parts.build(change.space)
    try:
        cached = CachedEmbedder(embedder, DatabaseEmbeddingCache(parts.engine, change.space.model))
        filled = await fill(parts.engine, cached, heading_context=parts.settings.heading_context, progress=watch.filled)
        done.filled_count += filled.filled_count
        done.embedded_count += filled.embedded_count
    finally:
        await embedder.close()


async def _drop(connection: AsyncConnection, space: EmbeddingSpace | None) -> None:
    active = await active_space(connection)
    await drop_column(connection, active.model)
    if space is not None:
        await leave_standby(connection, space)


@asynccontextmanager
async def _alone(engine: AsyncEngine) -> AsyncIterator[None]:
    """One change at a time, of vectors that have their index."""
    async with alone(engine) as is_free:
        if not is_free:
            raise Conflict(
                "another `fuzi reembed`, or a `fuzi import` into an empty database, is at work on this database; "
                "`fuzi reembed --status` shows how far"
            )
        await build_deferred(engine)
        yield
