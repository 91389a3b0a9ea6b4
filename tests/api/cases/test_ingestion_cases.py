"""Field cases of ingestion, against the whole service and a real embedding server that misbehaves as they say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from service.config import EmbedSettings, Settings
from service.db.migrate import upgrade
from service.errors import ModelMismatch
from service.wiring import open_services
from tests.api.conftest import Api, api_settings, problem, running
from tests.cases import case
from tests.conftest import Databases
from tests.fakes.embedding_server import Answer, EmbeddingServer, Hang, Slow, refuse_more_than

DIMENSION = 8


@dataclass(frozen=True)
class Site:
    """The service as it runs in production, and its embedding server."""

    api: Api
    server: EmbeddingServer

    def calls(self) -> int:
        return len(self.server.requests)

    async def rows(self, source: str) -> dict[str, int]:
        """How many rows there are of a source."""
        counts = {}
        async with self.api.services.engine.connect() as connection:
            for table in ("document", "parent_chunk", "child_chunk"):
                join = "" if table == "document" else f"join rag.{table} as c on c.document_id = d.id"
                query = f"select count(*) from rag.document as d {join} where d.source = :source"
                counts[table] = (await connection.execute(text(query), {"source": source})).scalar_one()
        return counts

    async def vectors(self, source: str) -> list[tuple[str, list[float]]]:
        """Content and vector of each child of a source, in order."""
        query = """
            select c.content, c.embedding::real[]
            from rag.child_chunk as c join rag.document as d on d.id = c.document_id
            where d.source = :source order by c.ordinal
        """
        async with self.api.services.engine.connect() as connection:
            return [(row[0], row[1]) for row in await connection.execute(text(query), {"source": source})]

    async def job_when(self, job_id: str, *statuses: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while (job := (await self.api.http.get(f"/v1/jobs/{job_id}")).json())["status"] not in statuses:
                await asyncio.sleep(0.05)
        return dict(job)

    async def accepted(self, name: str, content: str) -> dict[str, Any]:
        response = await self.api.http.post("/v1/documents", files={"file": (name, content)})
        assert response.status_code == 202, response.text
        return dict(response.json())


@pytest.fixture(scope="module")
async def _site(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    with databases.fresh(migrated=False) as database, EmbeddingServer(DIMENSION) as server:
        embed = EmbedSettings(
            provider="openai",
            model="m",
            dimension=DIMENSION,
            base_url=server.url,
            api_key=SecretStr("k"),
            timeout_seconds=1,
            attempts=2,
            heading_context=False,
        )
        folder = tmp_path_factory.mktemp("cases")
        settings = api_settings(database, folder).model_copy(update={"embed": embed})
        await asyncio.to_thread(upgrade, database, settings)
        async with running(settings, open_services) as api:
            yield Site(api, server)


@pytest.fixture
def site(_site: Site) -> Site:
    """The one service of this module, its embedding server well behaved and without a past."""
    _site.server.rule = lambda _request: None
    _site.server.vector_of = _site.server._spelling
    _site.server.requests.clear()
    return _site


def numbered(count: int, word: str) -> str:
    """A text of so many children, each of one sentence that begins with its number; another word, other texts."""
    return "\n\n".join(f"第{number}段{word * 60}。" for number in range(count))


@pytest.mark.case("BR-033")
async def test_a_document_deleted_while_its_two_hundred_children_are_embedded(site: Site) -> None:
    site.server.rule = lambda _request: Slow(0.2)
    upload = await site.accepted("删除.txt", numbered(200, "条文"))
    async with asyncio.timeout(60):
        while site.calls() < 4:
            await asyncio.sleep(0.02)
    deleted = await site.api.http.delete(f"/v1/documents/{upload['document_id']}")
    assert deleted.status_code == 204
    assert (await site.job_when(upload["job_id"], "cancelled", "ready"))["status"] == "cancelled"
    site.server.rule = lambda _request: None
    await site.api.put("别的.txt", "别的内容。")
    assert await site.rows("删除.txt") == {"document": 0, "parent_chunk": 0, "child_chunk": 0}
    assert (await site.api.http.get(f"/v1/documents/{upload['document_id']}")).status_code == 404
    async with asyncio.timeout(10):
        while len(site.api.originals()) != await site.api.total():
            await asyncio.sleep(0.05)


@pytest.mark.case("BR-034")
async def test_an_identical_upload_embeds_nothing_and_keeps_its_chunks(site: Site) -> None:
    given = case("BR-034").input["upload_twice"]
    first = await site.api.upload("安装.md", given["content"], source=given["source"])
    before, calls = await _chunk_ids(site, first.json()["document_id"]), site.calls()
    assert calls == 1
    again = await site.api.upload("安装.md", given["content"], source=given["source"])
    assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")
    assert again.json()["document_id"] == first.json()["document_id"]
    assert (site.calls(), await _chunk_ids(site, first.json()["document_id"])) == (calls, before)


async def _chunk_ids(site: Site, document_id: str) -> list[str]:
    chunks = (await site.api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    return [chunk["chunk_id"] for chunk in [*chunks["parents"], *chunks["children"]]]


@pytest.mark.case("BR-035")
async def test_an_upload_that_failed_is_done_when_it_comes_again(site: Site) -> None:
    site.server.rule = lambda _request: Answer(500)
    failed = await site.api.upload("重试.md", "重试内容。")
    assert (failed.status_code, problem(failed)["code"]) == (503, "embedder_unavailable")
    site.server.rule = lambda _request: None
    again = await site.api.upload("重试.md", "重试内容。")
    assert (again.status_code, again.json()["status"]) == (201, "ready")
    assert (await site.api.found("重试内容", vector_weight=0))[0] == "重试内容。"
    assert await site.rows("重试.md") == {"document": 1, "parent_chunk": 1, "child_chunk": 1}


@pytest.mark.case("BR-036")
async def test_a_start_with_another_dimension_names_both_and_the_way_out(empty_database: str, tmp_path: Any) -> None:
    given = case("BR-036").input
    settings = api_settings(empty_database, tmp_path)
    old, new = (
        settings.model_copy(
            update={
                "embed": EmbedSettings(
                    provider="openai",
                    model=given[which]["model"],
                    dimension=given[which]["dim"],
                    api_key=SecretStr("k"),
                )
            }
        )
        for which in ("old", "new")
    )
    await asyncio.to_thread(upgrade, empty_database, old)
    with pytest.raises(ModelMismatch, match=r"m-1024 \(1024 dimensions\).*m-768 \(768 dimensions\)") as refused:
        await _open(new)
    assert "`fuzi reembed --provider openai --model m-768`" in refused.value.message
    await _open(old)


async def _open(settings: Settings) -> None:
    async with open_services(settings):
        pass


@pytest.mark.case("BR-039")
async def test_twenty_five_children_go_out_in_tens_and_keep_their_own_vectors(site: Site) -> None:
    site.server.rule = refuse_more_than(10)
    site.server.vector_of = lambda content: [float(re.findall(r"第(\d+)段", content)[0]), *[1.0] * 7]
    await site.api.put("批次.txt", numbered(case("BR-039").input["children"], "规定"))
    assert sorted(len(request.texts) for request in site.server.requests) == sorted(
        case("BR-039").expected["request_sizes"]
    )
    stored = await site.vectors("批次.txt")
    assert [vector[0] for _, vector in stored] == list(range(25))
    assert all(content.startswith(f"第{number}段") for number, (content, _) in enumerate(stored))


@pytest.mark.case("BR-041")
async def test_an_upload_waits_as_long_as_429_says(site: Site) -> None:
    site.server.script(Answer(429, headers={"Retry-After": "2"}), Answer(429, headers={"Retry-After": "1"}))
    await site.api.put("限流.txt", numbered(3, "办法"))
    first, second, third = (request.at for request in site.server.requests)
    assert second - first >= 2
    assert third - second >= 1
    assert len(await site.vectors("限流.txt")) == 3


BAD_ANSWERS = {
    "BR-042": ("[" + ",".join(["0.5"] * 768) + "]", "embedding_dimension", ["768", "8"]),
    "BR-043": ("[0.1,NaN,0.3,1,1,1,1,1]", "embedding_failed", ["non-finite", "nan"]),
}


@pytest.mark.parametrize("identifier", BAD_ANSWERS)
async def test_a_vector_that_cannot_be_kept_fails_its_document_alone(site: Site, identifier: str) -> None:
    """BR-042 and BR-043"""
    vector, code, words = BAD_ANSWERS[identifier]
    content, name = case(identifier).input["content"], f"{identifier}.txt"
    bad = Answer(200, f'{{"data":[{{"index":0,"embedding":{vector}}}]}}')
    site.server.rule = lambda request: bad if content in request.texts else None
    failed = await site.api.upload(name, content)
    assert (failed.status_code, problem(failed)["code"]) == (502, code)
    assert all(word in problem(failed)["message"] for word in words)
    document_id = problem(failed)["details"]["document_id"]
    assert (await site.api.http.get(f"/v1/documents/{document_id}")).json()["status"] == "failed"
    assert await site.rows(name) == {"document": 1, "parent_chunk": 0, "child_chunk": 0}
    await site.api.put(f"好的 {identifier}.txt", f"好的内容{identifier}。")
    assert f"好的内容{identifier}。" in await site.api.found(f"好的内容{identifier}")


@pytest.mark.case("BR-045")
async def test_a_document_on_which_the_model_hangs_holds_up_nobody(site: Site) -> None:
    site.server.rule = lambda request: Hang() if "慢慢来。" in request.texts else None
    slow = await site.accepted("慢.md", "慢慢来。")
    async with asyncio.timeout(60):
        while site.calls() == 0:
            await asyncio.sleep(0.02)
    async with asyncio.timeout(case("BR-045").expected["health_ms_below"] / 1000):
        assert (await site.api.http.get("/healthz")).status_code == 200
    other = await site.accepted("快.md", "快一点。")
    await site.job_when(other["job_id"], "ready")
    failed = await site.job_when(slow["job_id"], "failed")
    assert failed["error_code"] == "embedder_unavailable"
    assert "no answer within 1 s" in failed["error_message"]
    assert sum("慢慢来。" in request.texts for request in site.server.requests) == 2 * failed["attempts"] == 4


@pytest.mark.case("BR-048")
async def test_a_document_of_seven_hundred_thousand_characters(site: Site) -> None:
    whole = case("BR-048").text
    document_id = await site.api.put("大.txt", whole)
    chunks = (await site.api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert len(chunks["children"]) >= case("BR-048").expected["min_children"]
    assert (await site.rows("大.txt"))["child_chunk"] == len(chunks["children"])
    stored = (await site.api.http.get(f"/v1/documents/{document_id}/text")).json()["text"]
    assert len(stored) > 600_000
    for child in (chunks["children"][0], chunks["children"][-1]):
        assert stored[child["start"] : child["end"]] == child["content"]
    assert stored.rstrip().endswith(chunks["children"][-1]["content"])
