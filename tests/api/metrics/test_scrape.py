"""What is scraped over HTTP is what happened."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from service.config import EmbedSettings, JobSettings, LimitSettings, Settings
from service.embed import create_embedder
from service.embed.recent_queries import RecentQueries
from service.metrics import Metrics
from service.types import Vector
from tests.api.live import live_server, until
from tests.fakes.embedding_server import Answer, EmbeddingServer
from tests.fakes.hash_embedder import HashEmbedder

type Samples = Mapping[tuple[str, ...], float]


def scrape(http: httpx.Client) -> Samples:
    """All samples by name and label values, in the order of the label names."""
    response = http.get("/metrics")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return samples(response.text)


def samples(text: str) -> Samples:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _upload(http: httpx.Client, name: str, content: str | bytes, status: int = 201) -> None:
    response = http.post("/v1/documents?wait=true", files={"file": (name, content)})
    assert response.status_code == status, response.text


def test_uploads_and_searches_are_counted(settings: Settings) -> None:
    same = "水泵每半年更换一次轴承。"
    with live_server(settings, HashEmbedder(384)) as url, httpx.Client(base_url=url, timeout=60) as http:
        before = scrape(http)
        assert (before["fuzi_database_up",], before["fuzi_searches_total",]) == (1, 0)
        states = ("received", "extracting", "splitting", "embedding", "storing", "failed")
        assert {sample: value for sample, value in before.items() if sample[0] == "fuzi_jobs"} == {
            ("fuzi_jobs", lane, state): 0 for lane in ("small", "large") for state in states
        }
        assert before["fuzi_oldest_waiting_job_seconds", "small"] == 0
        _upload(http, "甲.md", same)
        _upload(http, "甲.md", same, status=200)  # unchanged: no attempt
        _upload(http, "乙.docx", b"PK\x03\x04 cut off", status=422)
        for query in ("轴承", "水泵", "轴承"):
            assert http.post("/v1/search", json={"query": query, "rerank": False}).status_code == 200
        after = scrape(http)
    assert after["fuzi_job_attempts_total", "", "stored"] == 1
    assert after["fuzi_job_attempts_total", "corrupt", "failed"] == 1
    assert after["fuzi_jobs", "small", "failed"] == 1
    assert {step: after["fuzi_ingest_step_seconds_count", step] for step in ("fetch", "extract", "embed", "store")} == {
        "fetch": 2, "extract": 2, "embed": 1, "store": 1,
    }  # fmt: skip
    assert (after["fuzi_embedding_texts_total", "embedded"], after["fuzi_embedding_texts_total", "reused"]) == (1, 0)
    assert after["fuzi_searches_total",] == 3
    for step in ("embed", "retrieve", "expand", "total"):
        assert after["fuzi_search_step_seconds_count", step] == 3
        assert 0 < after["fuzi_search_step_seconds_sum", step] < 60
    assert [name for name in after if name[0] == "fuzi_search_warnings_total"] == []
    assert after["fuzi_http_request_seconds_count", "POST", "/v1/search", "200"] == 3
    assert after["fuzi_http_request_seconds_count", "POST", "/v1/documents", "422"] == 1
    assert 0 < after["fuzi_http_request_seconds_sum", "POST", "/v1/search", "200"] < 60
    assert after["process_resident_memory_bytes",] > 1e6


class _Remembering(HashEmbedder):
    """Remembers the vectors of queries as the embedders of the service do."""

    def __init__(self) -> None:
        super().__init__(384)
        self._recent = RecentQueries()

    async def embed_query(self, text: str) -> Vector:
        known = self._recent.get(text)
        return known if known is not None else self._recent.put(text, self.vector_of(text))

    async def prepare_queries(self, texts: Sequence[str]) -> None:
        for text in texts:
            await self.embed_query(text)

    def knows_query(self, text: str) -> bool:
        return text in self._recent


def test_vectors_of_queries_are_counted_once_also_in_a_batch(settings: Settings) -> None:
    with live_server(settings, _Remembering()) as url, httpx.Client(base_url=url, timeout=60) as http:

        def counted() -> tuple[float, float]:
            found = scrape(http)
            return found["fuzi_query_vectors_total", "embedded"], found["fuzi_query_vectors_total", "remembered"]

        assert counted() == (0, 0)
        for query in ("轴承", "水泵", "轴承"):
            http.post("/v1/search", json={"query": query, "rerank": False}).raise_for_status()
        http.post("/v1/search", json={"query": "滤袋", "vector_weight": 0}).raise_for_status()  # no vector is asked for
        assert counted() == (2, 1)
        batch = {"queries": ["轴承", "滤芯", "阀门"], "defaults": {"rerank": False}}
        http.post("/v1/search/batch", json=batch).raise_for_status()
        assert counted() == (4, 2)


def test_waiting_jobs_are_read_from_the_database_by_lane(settings: Settings) -> None:
    resting = settings.model_copy(
        update={
            "jobs": settings.jobs.model_copy(update={"inside_serve": False}),
            "limits": LimitSettings(max_upload_mb=10, max_request_mb=1, large_file_mb=1),
        }
    )
    with live_server(resting, HashEmbedder(384)) as url, httpx.Client(base_url=url, timeout=60) as http:
        for name, size in (("a.txt", 10), ("b.txt", 20), ("c.txt", 1024 * 1024 + 1)):
            response = http.post("/v1/documents", files={"file": (name, "x" * size)})
            assert response.status_code == 202
        time.sleep(0.01)
        found = scrape(http)
        assert (found["fuzi_jobs", "small", "received"], found["fuzi_jobs", "large", "received"]) == (2, 1)
        assert found["fuzi_oldest_waiting_job_seconds", "small"] > found["fuzi_oldest_waiting_job_seconds", "large"] > 0
        http.post(f"/v1/jobs/{response.json()['job_id']}/cancel").raise_for_status()
        found = scrape(http)
        assert (found["fuzi_jobs", "large", "received"], found["fuzi_oldest_waiting_job_seconds", "large"]) == (0, 0)


@pytest.mark.parametrize("index", ["child_chunk_bm25", "parent_chunk_bm25"])
def test_a_lost_index_and_its_repair_are_counted(settings: Settings, database: str, index: str) -> None:
    quick = settings.model_copy(update={"database": settings.database.model_copy(update={"guard_seconds": 0.2})})
    with live_server(quick, HashEmbedder(384)) as url, httpx.Client(base_url=url, timeout=60) as http:
        _upload(http, "甲.md", "水泵每半年更换一次轴承。")
        until(lambda: scrape(http).get(("fuzi_bm25_index_whole", index)) == 1)
        until(lambda: scrape(http).get(("fuzi_bm25_index_segments", index)) == 1)
        assert scrape(http)["fuzi_bm25_index_losses_total", index] == 0
        # what a crash does to the unlogged table, and the lock keeps the guard from repairing at once
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("select pg_advisory_lock(%s)", [0x626D3235])
            connection.execute("delete from rag.bm25_sentinel where index_name = %s", [index])
            until(lambda: scrape(http)["fuzi_bm25_index_whole", index] == 0)
            response = http.post("/v1/search", json={"query": "轴承"}).json()
            assert [warning["code"] for warning in response["warnings"]] == ["bm25_rebuilding"]
        until(lambda: scrape(http)["fuzi_bm25_index_whole", index] == 1)
        found = scrape(http)
    assert found["fuzi_bm25_index_losses_total", index] == 1
    assert found["fuzi_search_warnings_total", "bm25_rebuilding"] == 1
    assert found["fuzi_bm25_index_repair_seconds_count", index, "rebuilt"] == 1
    assert 0 < found["fuzi_bm25_index_repair_seconds_sum", index, "rebuilt"] < 60


def test_a_database_that_is_gone_is_a_number_not_an_error(settings: Settings, database: str) -> None:
    name = database.rsplit("/", 1)[1]
    idle = settings.model_copy(update={"jobs": JobSettings(inside_serve=False)})
    with live_server(idle, HashEmbedder(384)) as url, httpx.Client(base_url=url, timeout=60) as http:
        assert scrape(http)["fuzi_database_up",] == 1
        other = database.rsplit("/", 1)[0] + "/postgres"
        with psycopg.connect(other, autocommit=True) as connection:
            connection.execute(f'alter database "{name}" allow_connections false')  # type: ignore[arg-type]
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
            found = scrape(http)
            connection.execute(f'alter database "{name}" allow_connections true')  # type: ignore[arg-type]
        assert found["fuzi_database_up",] == 0
        assert [sample for sample in found if sample[0] in {"fuzi_jobs", "fuzi_oldest_waiting_job_seconds"}] == []
        until(lambda: scrape(http)["fuzi_database_up",] == 1)


async def test_retries_and_the_circuit_of_a_provider_are_shown() -> None:
    metrics = Metrics()
    with EmbeddingServer(dimension=3) as server:
        settings = EmbedSettings(
            provider="openai", model="m", dimension=3, base_url=server.url, api_key=SecretStr("k"), attempts=2
        )
        embedder = create_embedder(settings, metrics)
        server.script(Answer(503))
        await embedder.embed_passages(["猫"])
        found = samples(metrics.text().decode())
        [name] = [key[1] for key in found if key[0] == "fuzi_provider_retries_total"]
        assert name == "openai (127.0.0.1)"
        assert (found["fuzi_provider_retries_total", name], found["fuzi_provider_circuit_open", name]) == (1, 0)
        for _ in range(8):  # failures in a row, no answer between
            embedder._client.breaker.failed()  # type: ignore[attr-defined]
        assert samples(metrics.text().decode())["fuzi_provider_circuit_open", name] == 1
        await embedder.close()


def test_metrics_of_two_processes_do_not_mix() -> None:
    first, second = Metrics(), Metrics()
    first.searched({"embed_ms": 2000.0}, ["a", "a", "b"])
    assert samples(second.text().decode())["fuzi_searches_total",] == 0
    found = samples(first.text().decode())
    assert (found["fuzi_search_warnings_total", "a"], found["fuzi_search_step_seconds_sum", "embed"]) == (1, 2)
