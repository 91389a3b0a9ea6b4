"""A service with a fast first model, and a second one behind a real HTTP server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import psycopg

from service.config import EmbedSettings
from service.db.spaces import EmbeddingSpace
from service.embed import Embedder, FollowingEmbedder, embedder_of
from service.flows.reembed.change import ReembedParts
from service.types import EmbeddingModel
from service.wiring import Services
from service.worker import working
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, flow_settings, idle_services


@dataclass
class World:
    """The service under test, and the change of its model."""

    services: Services
    library: Library
    parts: ReembedParts
    first: HashEmbedder
    server: EmbeddingServer
    database: str

    @property
    def second(self) -> EmbeddingSpace:
        """The space of the model behind the HTTP server."""
        return EmbeddingSpace(EmbeddingModel("openai", "second", self.server.dimension), self.server.url)

    def asked(self) -> list[str]:
        """Every text the second model was asked for, in order."""
        return [text for request in self.server.requests for text in request.texts]

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(query).fetchall()  # type: ignore[arg-type]

    async def distance(self, content: str) -> float:
        """How far the chunk with this text is from itself as a query: 0, unless two models are mixed."""
        result = await self.library.ask(content, vector=1, fts=0, top_n=1)
        assert result.warnings == ()
        assert [passage.content for passage in result.passages] == [content]
        distance = result.passages[0].hits[0].candidate.vector_distance
        assert distance is not None
        return distance


@dataclass
class Use:
    """What a service in use answers: distances of searches for texts that are stored, from themselves."""

    distances: list[float]
    _users: list[asyncio.Task[None]]

    async def goes_on(self) -> None:
        """Wait for five more searches, or for a failure."""
        seen = len(self.distances)
        while len(self.distances) < seen + 5 and not any(user.done() for user in self._users):
            await asyncio.sleep(0.01)


@asynccontextmanager
async def in_use(here: World) -> AsyncIterator[Use]:
    """Search and upload without a pause until the block ends; what went wrong with that is raised then."""
    ended, distances = asyncio.Event(), list[float]()

    async def search() -> None:
        while not ended.is_set():
            distances.append(await here.distance(line(len(distances) % 8)))

    async def write() -> None:
        number = 100
        while not ended.is_set():
            await put_lines(here.library, range(number, number + 1))
            await here.library.put("19.txt", line(19, number))
            number += 1

    users = [asyncio.create_task(search()), asyncio.create_task(write())]
    yield Use(distances, users)
    ended.set()
    await asyncio.gather(*users)


def line(number: int, version: int = 1) -> str:
    """A text of one chunk that resembles no other."""
    return f"第{number}号设备第{version}版手册：每{number + 2}个月检查编号为{number * 7919 % 10_007}的阀门。"


@asynccontextmanager
async def world(
    database: str,
    folder: Path,
    dimension: int,
    first: HashEmbedder | None = None,
    vector_type: Literal["auto", "vector", "halfvec"] = "auto",
) -> AsyncIterator[World]:
    """Open everything; titles are left out of the embedded texts, so that a text is its own best query."""
    first = first or HashEmbedder()
    embed = EmbedSettings(heading_context=False, vector_type=vector_type)
    settings = flow_settings(database, folder / "home", attempts=5)
    jobs = settings.jobs.model_copy(update={"lease_seconds": 60})  # a busy machine is no dead worker
    settings = settings.model_copy(update={"embed": embed, "jobs": jobs})

    def build(space: EmbeddingSpace) -> Embedder:
        return first if space.model == first.model else embedder_of(embed, space)

    (folder / "uploads").mkdir()
    with EmbeddingServer(dimension) as server:
        async with idle_services(settings, first) as idle:
            services = replace(idle, embedder=FollowingEmbedder(first, build))
            async with working(services):
                library = Library(services, folder / "uploads")
                parts = ReembedParts(services.engine, embed, build)
                yield World(services, library, parts, first, server, database)
            await services.embedder.close()


async def put_lines(library: Library, numbers: Iterator[int] | range, version: int = 1) -> None:
    """One document a line, several at once."""
    gate = asyncio.Semaphore(4)

    async def put(number: int) -> None:
        async with gate:
            await library.put(f"{number}.txt", line(number, version))

    await asyncio.gather(*map(put, numbers))
