"""Uploads in a process that cannot go with the database to its new model: they wait, and no attempt is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from service.config import EmbedSettings
from service.db.spaces import EmbeddingSpace
from service.embed import Embedder, FollowingEmbedder, embedder_of
from service.embed.following import BuildEmbedder
from service.errors import Misconfigured
from service.flows.reembed.change import ReembedParts, reembed
from service.flows.work import run_job
from service.queue.queue import RetryLater
from service.types import EmbeddingModel
from tests.fakes.embedding_server import Answer, EmbeddingServer
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.heard import Heard
from tests.flows.conftest import accept, flow_settings, idle_services


def ask(space: EmbeddingSpace) -> Embedder:
    return embedder_of(EmbedSettings(), space)


def no_key(_space: EmbeddingSpace) -> Embedder:
    raise Misconfigured("no key")


@pytest.mark.parametrize("lame", [no_key, ask], ids=["no key", "key refused"])
async def test_an_upload_waits_for_a_worker_that_can_follow(database: str, tmp_path: Path, lame: BuildEmbedder) -> None:
    first = HashEmbedder()
    settings = flow_settings(database, tmp_path / "home", attempts=2)
    with EmbeddingServer(5) as server:
        second = EmbeddingSpace(EmbeddingModel("openai", "second", 5), server.url)
        async with idle_services(settings, first) as services:
            await reembed(ReembedParts(services.engine, EmbedSettings(), ask), second, Heard())
            accepted = await accept(services, tmp_path, "a.md", "值班安排在星期一公布。")

            async def attempt(follower: FollowingEmbedder) -> None:
                await run_job(replace(services, embedder=follower).for_work, accepted.job_id)

            async def job() -> tuple[object, ...]:
                async with services.engine.connect() as connection:
                    statement = text("select attempts, status, error_code from rag.job where id = :id")
                    return tuple((await connection.execute(statement, {"id": accepted.job_id})).one())

            server.rule = lambda _request: Answer(401, {"error": {"message": "invalid key"}})
            left_behind = FollowingEmbedder(first, lame)
            for _time in range(settings.jobs.attempts + 1):
                with pytest.raises(RetryLater):
                    await attempt(left_behind)
                assert await job() == (0, "received", "model_not_followed")
            server.rule = lambda _request: None
            able = FollowingEmbedder(first, ask)
            await attempt(able)
            assert await job() == (1, "ready", None)
            await left_behind.close()
            await able.close()
