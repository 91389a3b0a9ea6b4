"""One shape for every error, with the request's id, and nothing that should not get out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from service.api.edge.error_handlers import json_safe
from service.app import create_app
from service.config import Settings
from service.errors import EmbedderUnavailable, EmbeddingRefused, FuziError
from service.extract import Extractor
from service.types import Vector, VectorBatch
from tests.api.conftest import Api, api_settings, opener, problem, running
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/documents/", "/docs", "/v1/%00", "/" + "a" * 5000])
async def test_a_path_that_is_none(refusing_api: Api, path: str) -> None:
    response = await refusing_api.http.get(path)
    assert (response.status_code, problem(response)["code"]) == (404, "not_found")
    assert len(response.content) < 1000


@pytest.mark.parametrize(("method", "path"), [("PATCH", "/v1/documents"), ("GET", "/v1/search"), ("POST", "/healthz")])
async def test_a_method_that_is_not_allowed(refusing_api: Api, method: str, path: str) -> None:
    response = await refusing_api.http.request(method, path)
    assert (response.status_code, problem(response)["code"]) == (405, "method_not_allowed")
    assert response.headers["Allow"]


async def test_a_request_id_is_kept_when_it_is_plain(refusing_api: Api) -> None:
    kept = await refusing_api.http.get("/healthz", headers={"X-Request-ID": "job-7.a:b_c"})
    assert kept.headers["X-Request-ID"] == "job-7.a:b_c"
    seen = set()
    for given in ("", "a b", "甲".encode(), "x" * 129, "a\tb", '"'):
        response = await refusing_api.http.get("/v1/nothing", headers={"X-Request-ID": given})
        assert problem(response)["request_id"] == response.headers["X-Request-ID"] != given
        seen.add(response.headers["X-Request-ID"])
    assert len(seen) == 6


class BrokenEmbedder(HashEmbedder):
    """Fails with the given error until it is mended."""

    def __init__(self, error: Exception) -> None:
        super().__init__(384)
        self.error: Exception | None = error

    async def embed_query(self, text: str) -> Vector:
        if self.error is not None:
            raise self.error
        return await super().embed_query(text)

    async def embed_passages(self, texts: list[str], on_progress: Callable[[int], None] | None = None) -> VectorBatch:
        if self.error is not None:
            raise self.error
        return await super().embed_passages(texts, on_progress)


async def test_an_error_nobody_foresaw_tells_nothing(settings: Settings, extractor: Extractor) -> None:
    embedder = BrokenEmbedder(RuntimeError("password=geheim at /srv/secret.py"))
    async with running(settings, opener(extractor, embedder)) as api:
        response = await api.search("水", fts_weight=0)
        assert (response.status_code, problem(response)["code"]) == (500, "internal_error")
        assert problem(response)["retryable"] is False
        assert "geheim" not in response.text
        assert "RuntimeError" not in response.text
        assert (await api.http.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [(EmbedderUnavailable("the model is out", provider="openai"), 503, "5"), (EmbeddingRefused("bad key"), 502, None)],
)
async def test_an_embedder_that_fails(
    settings: Settings, extractor: Extractor, error: FuziError, status: int, retry_after: str | None
) -> None:
    """BR-035 (the upload that failed can be sent again)."""
    embedder = BrokenEmbedder(error)
    async with running(settings, opener(extractor, embedder)) as api:
        upload = await api.upload("a.md", "重试内容。")
        assert (upload.status_code, problem(upload)["code"]) == (status, error.code)
        assert upload.headers.get("Retry-After") == retry_after
        details = problem(upload)["details"]
        assert details.keys() >= {"document_id", "job_id"}
        document = (await api.http.get(f"/v1/documents/{details['document_id']}")).json()
        assert (document["status"], document["error_code"]) == ("failed", error.code)
        both_legs = await api.search("重试内容")
        assert [notice["code"] for notice in both_legs.json()["warnings"]] == ["vector_unavailable"]
        vector_only = await api.search("重试内容", fts_weight=0)
        assert (vector_only.status_code, problem(vector_only)["code"]) == (status, error.code)

        embedder.error = None
        again = await api.upload("a.md", "重试内容。")
        assert (again.status_code, again.json()["document_id"]) == (201, details["document_id"])
        assert await api.found("重试内容") == ["重试内容。"]


async def test_a_database_that_is_gone(
    databases: Databases, tmp_path: Path, extractor: Extractor, embedder: HashEmbedder
) -> None:
    """The database is dropped under the running service; its worker is another process here."""
    with databases.fresh() as database:
        settings = api_settings(database, tmp_path)
        elsewhere = settings.jobs.model_copy(update={"inside_serve": False})
        settings = settings.model_copy(update={"jobs": elsewhere})
        async with running(settings, opener(extractor, embedder)) as api:
            assert await api.found("内容") == []
            drop(databases, database)
            responses = [
                await api.search("内容"),
                await api.http.get("/v1/documents"),
                await api.upload("b.txt", "另一份。"),
                await api.http.delete("/v1/documents/0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11"),
            ]
            for response in responses:
                error = problem(response)
                assert (response.status_code, error["code"], error["retryable"]) == (503, "database_unavailable", True)
                assert response.headers["Retry-After"] == "5"
                assert "127.0.0.1" not in response.text
            assert api.uploads_under_way() == []
            assert (await api.http.get("/healthz")).status_code == 200
            ready = await api.http.get("/readyz")
            assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")
            assert [reason["code"] for reason in ready.json()["reasons"]] == ["database_unavailable"]


def drop(databases: Databases, dsn: str) -> None:
    """Drop a database, cutting whoever uses it."""
    name = sql.Identifier(dsn.rsplit("/", 1)[-1])
    with psycopg.connect(databases.dsn("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(name))


async def test_not_ready_says_why(settings: Settings, extractor: Extractor, embedder: HashEmbedder) -> None:
    async with running(settings, opener(extractor, embedder)) as api:
        ready = await api.http.get("/readyz")
        assert (ready.status_code, ready.json()) == (200, {"status": "ready", "reasons": [], "replica": None})
        async with api.services.engine.begin() as connection:
            await connection.execute(text("update rag.alembic_version set version_num = '0003'"))
        ready = await api.http.get("/readyz")
        (reason,) = ready.json()["reasons"]
        assert (ready.status_code, reason["code"]) == (503, "not_migrated")
        assert (await api.http.get("/healthz")).json() == {"status": "alive"}


async def test_health_needs_no_database_and_readiness_waits_for_no_connection(
    settings: Settings, extractor: Extractor, embedder: HashEmbedder
) -> None:
    few = settings.database.model_copy(update={"pool_size": 1, "connect_timeout_seconds": 0.5})
    async with (
        running(settings.model_copy(update={"database": few}), opener(extractor, embedder)) as api,
        api.services.engine.connect(),  # the only connection there is
    ):
        assert (await api.http.get("/healthz")).status_code == 200
        ready = await api.http.get("/readyz")
        assert (ready.status_code, ready.json()["reasons"][0]["code"]) == (503, "database_unavailable")


class PoolWatcher(HashEmbedder):
    """Embeds only after it has seen every connection back in the pool."""

    def __init__(self) -> None:
        super().__init__(384)
        self.api: Api | None = None
        self.looks = 0

    async def _look(self) -> None:
        """Others (sweeps, heartbeats) have connections for a moment; one held by the caller never comes back."""
        assert self.api is not None
        pool = self.api.services.engine.pool
        async with asyncio.timeout(60):
            while pool.checkedout() > 0:  # type: ignore[attr-defined]
                await asyncio.sleep(0.005)
        self.looks += 1

    async def embed_query(self, text: str) -> Vector:
        await self._look()
        return await super().embed_query(text)

    async def embed_passages(self, texts: list[str], on_progress: Callable[[int], None] | None = None) -> VectorBatch:
        await self._look()
        return await super().embed_passages(texts, on_progress)


async def test_no_connection_is_held_while_a_model_is_asked(settings: Settings, extractor: Extractor) -> None:
    embedder = PoolWatcher()
    async with running(settings, opener(extractor, embedder)) as api:
        embedder.api = api
        await api.put("a.txt", "内容。")
        assert await api.found("内容") == ["内容。"]
        assert embedder.looks == 2


@pytest.mark.case("BR-031")
async def test_one_source_uploaded_ten_times_at_once(api: Api) -> None:
    """BR-031"""
    content = "每天九点上班。"
    responses = await asyncio.gather(*(api.upload("考勤.md", content, source="制度/考勤.md") for _ in range(10)))
    assert {response.status_code for response in responses} <= {200, 201}
    (document_id,) = {response.json()["document_id"] for response in responses}
    assert (await api.total(), len(api.originals())) == (1, 1)
    chunks = (await api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert len(chunks["children"]) == 1
    assert (await api.upload("其他.md", "无关。")).status_code == 201


def test_making_an_application_opens_nothing(tmp_path: Path) -> None:
    create_app(Settings(_env_file=None, home=tmp_path / "never"))
    assert not (tmp_path / "never").exists()


def test_json_safe_leaves_nothing_that_json_cannot_say() -> None:
    odd = {"a\ud800": float("nan"), 1: {"x"}, "path": Path("/a"), "list": (float("inf"), True, None, 3)}
    assert json_safe(odd) == {"a\\ud800": "nan", "1": ["x"], "path": "/a", "list": ["inf", True, None, 3]}
