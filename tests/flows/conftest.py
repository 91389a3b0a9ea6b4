"""Everything a flow needs, around a real database: real extraction and splitting, vectors from a fast embedder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr

from service.config import DatabaseSettings, JobSettings, Settings
from service.db.bm25 import watch
from service.db.engine import create_engine
from service.embed import Embedder
from service.extract import create_extractor
from service.flows.jobs import result_of
from service.flows.receive import Accepted, receive
from service.queue.queue import open_queue
from service.rerank import KeepOrder
from service.search import search
from service.store.originals import open_originals
from service.types import DocumentFilter, IngestRequest, IngestResult, SearchRequest, SearchResult
from service.wiring import Services
from service.worker import working
from tests.fakes.hash_embedder import HashEmbedder, following

type Opener = Callable[[Embedder], AsyncIterator[Services]]


def flow_settings(database: str, home: Path, attempts: int = 1) -> Settings:
    """Settings of the production shape, pointing at a test's own database and folder."""
    return Settings(
        _env_file=None,
        home=home,
        database=DatabaseSettings(url=SecretStr(database), pool_size=6),
        jobs=JobSettings(
            attempts=attempts, heartbeat_seconds=0.2, lease_seconds=2, sweep_seconds=0.5, graceful_seconds=2
        ),
    )


@asynccontextmanager
async def idle_services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    """The parts of a service with the embedder of the test's choice; nobody works on jobs."""
    assert settings.database.url is not None
    dsn = settings.database.url.get_secret_value()
    engine = create_engine(dsn, settings.database, settings.search)
    bm25 = watch(engine)
    extractor = create_extractor(settings.extract)
    originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
    try:
        async with open_queue(dsn) as queue:
            yield Services(settings, engine, originals, extractor, following(embedder), KeepOrder(), queue, bm25)
    finally:
        await extractor.close()
        await engine.dispose()


@asynccontextmanager
async def services_with(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    """The same with a worker."""
    async with idle_services(settings, embedder) as services, working(services):
        yield services


@pytest.fixture
async def services(database: str, tmp_path: Path) -> AsyncIterator[Services]:
    async with services_with(flow_settings(database, tmp_path / "home"), HashEmbedder(384)) as opened:
        yield opened


class Library:
    """Takes texts in and asks for them, in the words of a test."""

    def __init__(self, services: Services, folder: Path) -> None:
        self.services = services
        self._folder = folder

    async def put(self, source: str, content: str | bytes, **more: object) -> IngestResult:
        path = self._folder / str(uuid4())
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        request = IngestRequest(path=path, source=source, file_name=source.rsplit("/", 1)[-1], **more)  # type: ignore[arg-type]
        received = await receive(self.services.for_receive, request)
        if isinstance(received, IngestResult):
            return received
        return await result_of(self.services.engine, received)

    async def ask(
        self,
        query: str,
        *,
        top_n: int = 5,
        vector: float = 70,
        fts: float = 30,
        metadata: dict[str, object] | None = None,
        collections: list[str] | None = None,
        **filters: object,
    ) -> SearchResult:
        request = SearchRequest(
            query=query,
            top_n=top_n,
            candidates=50,
            vector_weight=vector,
            fts_weight=fts,
            rrf_k=60,
            collections=collections,
            filters=DocumentFilter(metadata=metadata, **filters),  # type: ignore[arg-type]
        )
        return await search(self.services.for_search, request)

    async def sources(self, query: str, **more: object) -> list[str]:
        return [passage.source for passage in (await self.ask(query, **more)).passages]  # type: ignore[arg-type]


@pytest.fixture
def library(services: Services, tmp_path: Path) -> Library:
    folder = tmp_path / "uploads"
    folder.mkdir()
    return Library(services, folder)


async def accept(services: Services, folder: Path, source: str, content: str) -> Accepted:
    """Upload a text and leave its job in line."""
    path = folder / str(uuid4())
    path.write_text(content)
    received = await receive(services.for_receive, IngestRequest(path, source, source))
    assert isinstance(received, Accepted)
    return received
