"""The real application over a real database and extractor; only the embedding model is a fast stand-in."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from asgi_lifespan import LifespanManager
from fastapi import FastAPI
from pydantic import SecretStr

from service.answer import create_chat
from service.app import create_app
from service.config import DatabaseSettings, JobSettings, LimitSettings, ServerSettings, Settings
from service.db.bm25 import watch
from service.db.engine import create_engine
from service.embed import Embedder
from service.extract import Extractor, create_extractor
from service.queue.queue import open_queue
from service.rerank import KeepOrder
from service.store.originals import open_originals
from service.wiring import Services
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder, following

type Opener = Callable[[Settings], AbstractAsyncContextManager[Services]]


def opener(extractor: Extractor, embedder: Embedder) -> Opener:
    """Opens the real parts around the given extractor and embedder."""

    @asynccontextmanager
    async def open_parts(settings: Settings) -> AsyncIterator[Services]:
        assert settings.database.url is not None
        dsn = settings.database.url.get_secret_value()
        engine = create_engine(dsn, settings.database, settings.search)
        bm25 = watch(engine)
        originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
        chat = create_chat(settings.chat)
        try:
            async with open_queue(dsn) as queue:
                follower, order = following(embedder), KeepOrder()
                yield Services(settings, engine, originals, extractor, follower, order, queue, bm25, chat=chat)
        finally:
            if chat is not None:
                await chat.close()
            await engine.dispose()
            # A connection that was cancelled while it logged in lives on in a reference cycle, and PostgreSQL
            # drops no database before such a login has ended or timed out (60 s).
            gc.collect()

    return open_parts


@pytest.fixture(scope="session")
async def extractor() -> AsyncIterator[Extractor]:
    """One real extractor for all tests: its parser processes are slow to start."""
    opened = create_extractor(Settings(_env_file=None).extract)
    yield opened
    await opened.close()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder(384)


def api_settings(database: str, folder: Path) -> Settings:
    """The production shape with a database and folders of a test's own, and small limits."""
    uploads = folder / "uploads"
    uploads.mkdir()
    return Settings(
        _env_file=None,
        home=folder / "home",
        database=DatabaseSettings(url=SecretStr(database), pool_size=2, connect_timeout_seconds=30),
        limits=LimitSettings(max_upload_mb=10, max_request_mb=1),
        jobs=JobSettings(attempts=2, backoff_seconds=0.2, heartbeat_seconds=0.2, lease_seconds=2, sweep_seconds=0.5),
        server=ServerSettings(upload_folder=uploads),
    )


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    return api_settings(database, tmp_path)


@dataclass(frozen=True)
class Api:
    """The application as a client sees it, and its folders as the operator does."""

    http: httpx.AsyncClient
    settings: Settings
    app: FastAPI

    @property
    def services(self) -> Services:
        """The parts that the application has open."""
        opened: Services = self.app.state.services
        return opened

    async def upload(self, name: str, content: str | bytes, **fields: str) -> httpx.Response:
        """Upload one file under this file name, and wait until it is searchable."""
        return await self.http.post("/v1/documents?wait=true", files={"file": (name, content)}, data=fields)

    async def put(self, name: str, content: str | bytes, **fields: str) -> str:
        """Upload one file that must go well, and return the document's id."""
        response = await self.upload(name, content, **fields)
        assert response.status_code == 201, response.text
        return str(response.json()["document_id"])

    async def search(self, query: str, **options: Any) -> httpx.Response:
        return await self.http.post("/v1/search", json={"query": query, **options})

    async def found(self, query: str, **options: Any) -> list[str]:
        """Contents of the passages, best first; the search must go well."""
        response = await self.search(query, **options)
        assert response.status_code == 200, response.text
        return [passage["content"] for passage in response.json()["passages"]]

    async def total(self) -> int:
        return int((await self.http.get("/v1/documents")).json()["total"])

    def originals(self) -> list[Path]:
        return files_below(self.settings.home / "originals")

    def uploads_under_way(self) -> list[Path]:
        assert self.settings.server.upload_folder is not None
        return files_below(self.settings.server.upload_folder)


def files_below(folder: Path) -> list[Path]:
    return [Path(root) / name for root, _, names in os.walk(folder) for name in names]


def problem(response: httpx.Response) -> dict[str, Any]:
    """The error of an answer, after a check of its shape."""
    error = response.json()["error"]
    assert error.keys() == {"code", "message", "retryable", "request_id", "details"}
    assert error["request_id"] == response.headers["X-Request-ID"]
    return dict(error)


@asynccontextmanager
async def running(settings: Settings, open_services: Opener) -> AsyncIterator[Api]:
    """The application between its start and its stop."""
    app = create_app(settings, open_services)
    async with LifespanManager(app) as manager:
        transport = httpx.ASGITransport(manager.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://fuzi.test") as http:
            yield Api(http, settings, app)


@pytest.fixture
async def api(settings: Settings, extractor: Extractor, embedder: HashEmbedder) -> AsyncIterator[Api]:
    async with running(settings, opener(extractor, embedder)) as opened:
        yield opened


@asynccontextmanager
async def fresh_api(databases: Databases, folder: Path, extractor: Extractor, **changes: Any) -> AsyncIterator[Api]:
    """The application with a database of its own, for the tests of a module; ``changes`` are groups of settings."""
    with databases.fresh() as database:
        settings = api_settings(database, folder).model_copy(update=changes)
        async with running(settings, opener(extractor, HashEmbedder(384))) as opened:
            yield opened


@pytest.fixture(scope="module")
async def refusing_api(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, extractor: Extractor
) -> AsyncIterator[Api]:
    """One application for all tests of a module whose requests are refused, so that nothing is ever written."""
    async with fresh_api(databases, tmp_path_factory.mktemp("refusing"), extractor) as opened:
        yield opened
        assert await opened.total() == 0
