"""What the archive commands work with. They need the database itself: no server stands between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from service.config import Settings
from service.db.engine import create_engine, database_errors
from service.db.migrate import check
from service.embed import CachedEmbedder, create_embedder
from service.flows.archives.parts import ArchiveParts
from service.flows.archives.take_in import ImportParts
from service.store.embedding_cache import DatabaseEmbeddingCache
from service.store.originals import Originals, open_originals
from service.wiring import migrated_dsn


async def archive_parts(settings: Settings, *, migrate: bool = False) -> ArchiveParts:
    """Parts of backup, restore and export; starts the embedded server if need be.

    Args:
        migrate: in the embedded shape, bring the schema to this version first.
    """
    dsn = await migrated_dsn(settings, migrate=migrate and settings.database.url is None)
    return ArchiveParts(dsn, _originals(settings), settings.database.programs)


@asynccontextmanager
async def import_parts(settings: Settings, *, embed: bool) -> AsyncIterator[ImportParts]:
    """Parts of an import; the model is only opened to embed.

    Raises:
        NotMigrated, ModelMismatch: the database does not fit this version or these settings.
    """
    parts = await archive_parts(settings, migrate=True)
    async with AsyncExitStack() as stack:
        stack.enter_context(database_errors())
        engine = create_engine(parts.dsn, settings.database, settings.search)
        stack.push_async_callback(engine.dispose)
        async with engine.connect() as connection:
            await check(connection, settings.embed)
        embedder = None
        if embed:
            inner = create_embedder(settings.embed)
            stack.push_async_callback(inner.close)
            embedder = CachedEmbedder(inner, DatabaseEmbeddingCache(engine, inner.model))
        yield ImportParts(engine, parts.originals, settings.limits, embedder, settings.embed.heading_context)


def _originals(settings: Settings) -> Originals:
    return open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
