"""Wiring: settings become the parts that the flows work with, and are closed again in the right order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from service.answer import ChatModel, create_chat
from service.config import Settings
from service.config.ingestion import IngestionSettings
from service.db.bm25 import Bm25Health, guarding_by, watch
from service.db.embedded import EmbeddedServer, ServerKeeper, keeping
from service.db.engine import create_engine, database_errors, libpq_url
from service.db.migrate import check, check_revision, upgrade
from service.db.replica.reads import Place, Reads
from service.db.replica.watching import watching
from service.embed import FollowingEmbedder, create_embedder, embedder_of
from service.errors import DatabaseUnavailable, InvalidSettings, OriginalsUnavailable
from service.extract import Extractor, create_extractor
from service.flows.answer import AnswerParts
from service.flows.receive import ReceiveParts
from service.flows.reembed.change import ReembedParts
from service.flows.replica.parts import ReplicaParts
from service.flows.sweep import SweepParts
from service.flows.work import WorkParts
from service.ingest import IngestParts
from service.metrics import Metrics
from service.queue.queue import JobQueue, open_queue
from service.rerank import Reranker, create_reranker
from service.search import SearchParts
from service.store.originals import Originals, open_originals
from service.store.search_log import SearchLog
from service.tracing.exporting import tracing

log = structlog.get_logger()


_EMBEDDED_TRIES = 20
_EMBEDDED_WAIT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Services:
    """Every part of a running service; the flows take the groups they need."""

    settings: Settings
    engine: AsyncEngine
    originals: Originals
    extractor: Extractor
    embedder: FollowingEmbedder
    reranker: Reranker
    queue: JobQueue
    bm25: Bm25Health
    search_log: SearchLog | None = None
    keeper: ServerKeeper | None = None
    """Of the embedded server; None in the production shape."""
    metrics: Metrics = field(default_factory=Metrics)
    reads: Reads | None = None
    """Where searches read, while somebody watches the replica; None is on the primary."""
    chat: ChatModel | None = None
    """What writes answers; None where they are made of sentences."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the process begins to stop: streams end with an error that says so, requests under way are finished."""

    def __post_init__(self) -> None:
        self.bm25.report_to(self.metrics)

    @property
    def for_receive(self) -> ReceiveParts:
        """Parts of the receive flow."""
        settings = IngestionSettings.of(self.settings)
        return ReceiveParts(self.engine, self.originals, self.queue, settings, self.settings.limits, uuid4)

    @property
    def for_work(self) -> WorkParts:
        """Parts of the work flow, and within it of the ingest flow."""
        ingest = IngestParts(self.engine, self.extractor, self.embedder, IngestionSettings.of(self.settings))
        return WorkParts(self.engine, self.originals, ingest, self.settings.jobs, self.metrics)

    @property
    def for_sweep(self) -> SweepParts:
        """Parts of the sweep flow."""
        return SweepParts(self.engine, self.originals, self.queue, self.settings.jobs, self.settings.limits)

    @property
    def for_search(self) -> SearchParts:
        """Parts of the search flow."""
        settings = self.settings.search
        return SearchParts(
            self.engine, self.embedder, self.reranker, settings, self.bm25, self.search_log, self.metrics, self.reads
        )

    @property
    def for_answer(self) -> AnswerParts:
        """Parts of the answer flow."""
        return AnswerParts(self.for_search, self.chat, self.settings.chat)


def database_dsn(settings: Settings) -> str:
    """Return the URL of the configured PostgreSQL; without one, start the embedded server if need be.

    Blocks while the embedded server starts: call it in a thread.

    Raises:
        Misconfigured: the embedded parts are not installed, or the server cannot start.
    """
    if settings.database.url is not None:
        return settings.database.url.get_secret_value()
    return _embedded_server(settings).start().nearest_dsn


async def migrated_dsn(settings: Settings, *, migrate: bool) -> str:
    """`database_dsn` without blocking the loop; with ``migrate`` the schema is brought to this code's revision first.

    Raises:
        Misconfigured, DatabaseUnavailable: see `database_dsn` and `upgrade`.
    """
    dsn = await asyncio.to_thread(database_dsn, settings)
    if migrate:
        await asyncio.to_thread(upgrade, dsn, settings)
    return dsn


def _embedded_server(settings: Settings) -> EmbeddedServer:
    return EmbeddedServer(settings.home, settings.database.embedded_port)


@asynccontextmanager
async def open_services(settings: Settings, *, migrate: bool | None = None) -> AsyncIterator[Services]:
    """Open every part, and close them at the end; meanwhile an embedded server that is killed is started again.

    Args:
        migrate: bring the schema to this code's revision first. By default only in the embedded shape:
            a production database is migrated by its operator (``fuzi migrate``).

    Raises:
        NotMigrated: the schema is missing or older than this code.
        ModelMismatch: the settings name another embedding model than the database.
        Misconfigured, DatabaseUnavailable: a part cannot start; the message says what to do.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(tracing(settings.tracing))
        dsn, engine, bm25 = await _open_database(settings, migrate=migrate)
        stack.push_async_callback(engine.dispose)
        keeper = None
        if settings.database.url is None:
            keeper = await stack.enter_async_context(keeping(_embedded_server(settings)))
        extractor = create_extractor(settings.extract)
        stack.push_async_callback(extractor.close)
        metrics = Metrics()
        build = partial(embedder_of, settings.embed, metrics=metrics)
        embedder = FollowingEmbedder(create_embedder(settings.embed, metrics), build)
        stack.push_async_callback(embedder.close)
        reranker = create_reranker(settings.rerank, metrics)
        stack.push_async_callback(reranker.close)
        chat = create_chat(settings.chat, metrics)
        if chat is not None:
            stack.push_async_callback(chat.close)
        originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
        await _look_at(originals)
        queue = await stack.enter_async_context(open_queue(dsn))
        search_log = SearchLog(engine, settings.search.log_share)
        stack.push_async_callback(search_log.close)
        reads = _reads(settings, Place(engine, bm25), metrics)
        if reads is not None and reads.replica is not None:
            stack.push_async_callback(reads.replica.engine.dispose)
        yield Services(
            settings, engine, originals, extractor, embedder, reranker, queue, bm25, search_log, keeper, metrics, reads,
            chat,
        )  # fmt: skip


@asynccontextmanager
async def reading_replica(services: Services) -> AsyncIterator[None]:
    """Let searches read the replica while it is well, and guard its BM25 indexes; does nothing without one."""
    reads, database = services.reads, services.settings.database
    if reads is None or reads.replica is None:
        yield
        return
    dsn = await asyncio.to_thread(database_dsn, services.settings)
    replica = reads.replica
    async with (
        watching(reads, dsn, most_lag_seconds=database.read_max_lag_seconds),
        guarding_by(database, replica.engine, replica.bm25),
    ):
        yield


def _reads(settings: Settings, primary: Place, metrics: Metrics) -> Reads | None:
    if settings.database.read_url is None:
        return None
    dsn = settings.database.read_url.get_secret_value()
    engine = create_engine(dsn, settings.database, settings.search)
    return Reads(primary, Place(engine, watch(engine)), dsn, metrics)


def replica_dsn(settings: Settings, given: str | None) -> str | None:
    """The replica's URL: the one given, else that of the settings."""
    read_url = settings.database.read_url
    return given or (None if read_url is None else read_url.get_secret_value())


async def replica_parts(settings: Settings, given: str | None, primary_url: str | None) -> ReplicaParts:
    """What a change of the replica works with.

    Args:
        given: the replica's URL, when not that of the settings.
        primary_url: the primary's URL as the replica's server reaches it, when not as this process does.

    Raises:
        InvalidSettings: no replica is named.
        NotMigrated, Misconfigured, DatabaseUnavailable: see `open_services`.
    """
    target = replica_dsn(settings, given)
    if target is None:
        raise InvalidSettings("name the replica's database: set FUZI_DATABASE__READ_URL, or add --replica-url")
    async with open_database(settings):
        pass  # the primary answers, and its schema fits this version
    dsn = await asyncio.to_thread(database_dsn, settings)
    if settings.database.url is None:
        # its socket is open to its own account only
        address = await asyncio.to_thread(_embedded_server(settings).start)
        return ReplicaParts(settings, dsn, target, primary_url or address.dsn)
    return ReplicaParts(settings, dsn, target, libpq_url(primary_url or dsn))


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[AsyncEngine]:
    """Open the database and nothing else, its schema checked. The settings need not name its embedding model.

    Raises:
        NotMigrated, Misconfigured, DatabaseUnavailable: see `open_services`.
    """
    dsn = await migrated_dsn(settings, migrate=settings.database.url is None)
    engine = create_engine(dsn, settings.database, settings.search)
    try:
        with database_errors():
            async with engine.connect() as connection:
                await check_revision(connection)
            yield engine
    finally:
        await engine.dispose()


@asynccontextmanager
async def open_reembed(settings: Settings) -> AsyncIterator[ReembedParts]:
    """Open what a change of the embedding model works with; see `open_database`."""
    async with open_database(settings) as engine:
        yield ReembedParts(engine, settings.embed, partial(embedder_of, settings.embed))


async def _open_database(settings: Settings, *, migrate: bool | None) -> tuple[str, AsyncEngine, Bm25Health]:
    """Open the database, migrated and checked; an embedded server that is killed or recovers just now is waited for."""
    is_embedded = settings.database.url is None
    tries = AsyncRetrying(
        retry=retry_if_exception_type(DatabaseUnavailable),
        stop=stop_after_attempt(_EMBEDDED_TRIES if is_embedded else 1),
        wait=wait_fixed(_EMBEDDED_WAIT_SECONDS),
        before_sleep=lambda state: log.warning(
            "database_not_ready", error=str(state.outcome and state.outcome.exception())
        ),
        reraise=True,
    )
    return await tries(_open_migrated, settings, migrate if migrate is not None else is_embedded)


async def _open_migrated(settings: Settings, migrate: bool) -> tuple[str, AsyncEngine, Bm25Health]:
    dsn = await migrated_dsn(settings, migrate=migrate)
    engine = create_engine(dsn, settings.database, settings.search)
    bm25 = watch(engine)
    try:
        with database_errors():
            async with engine.connect() as connection:
                await check(connection, settings.embed)
    except BaseException:
        await engine.dispose()
        raise
    return dsn, engine, bm25


async def _look_at(originals: Originals) -> None:
    """Refuse to start when the store of the originals will not let us in; while it is away, searches work."""
    try:
        await originals.check()
    except OriginalsUnavailable as error:
        log.warning("originals_unavailable", message=error.message)
