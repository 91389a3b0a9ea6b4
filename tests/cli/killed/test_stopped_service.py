"""`fuzi serve` asked to stop in the middle of everything: each client is told how it ended, and nothing is lost."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from service.config import EmbedSettings, Settings
from service.db.migrate import upgrade
from tests.api.live import until
from tests.cli.running import serving
from tests.fakes.embedding_server import EmbeddingServer, Hang

_DIMENSION = 8


@pytest.fixture
def embedding(empty_database: str) -> Iterator[EmbeddingServer]:
    """An embedding server, and a database that has its model."""
    embed = EmbedSettings(provider="openai", model="m", dimension=_DIMENSION)
    upgrade(empty_database, Settings(_env_file=None, embed=embed))
    with EmbeddingServer(_DIMENSION) as server:
        yield server


@pytest.fixture
def environment(empty_database: str, embedding: EmbeddingServer) -> dict[str, str]:
    return {
        "FUZI_DATABASE__URL": empty_database,
        "FUZI_EMBED__PROVIDER": "openai",
        "FUZI_EMBED__MODEL": "m",
        "FUZI_EMBED__DIMENSION": str(_DIMENSION),
        "FUZI_EMBED__BASE_URL": embedding.url,
        "FUZI_EMBED__API_KEY": "k",
        "FUZI_JOBS__GRACEFUL_SECONDS": "0.5",
        "FUZI_SERVER__GRACEFUL_SECONDS": "2",
        "FUZI_LOG__FORMAT": "json",
    }


def _in_thread(results: dict[str, object], name: str, work: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            results[name] = work()
        except Exception as error:
            results[name] = error

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_who_waits_is_told_and_the_job_goes_back_in_line(
    empty_database: str, embedding: EmbeddingServer, environment: dict[str, str], home: Path
) -> None:
    embedding.rule = lambda _request: Hang()
    results: dict[str, object] = {}
    with serving(home, **environment) as (process, url), httpx.Client(base_url=url, timeout=60) as http:
        document = {"file": ("甲.txt", "水泵每半年更换一次轴承。")}
        threads = [_in_thread(results, "wait", lambda: http.post("/v1/documents?wait=true", files=document))]
        until(lambda: embedding.requests)
        (job,) = http.get("/v1/jobs").json()["jobs"]
        threads.append(_in_thread(results, "events", lambda: http.get(f"/v1/jobs/{job['job_id']}/events").text))
        slow = _half_an_upload(url)
        time.sleep(0.3)  # the stream has begun, and half of the upload has arrived
        process.send_signal(signal.SIGTERM)
        until(lambda: "events" in results)
        assert "wait" not in results, "it is given time"
        answer = _the_other_half(slow)
        for thread in threads:
            thread.join(timeout=60)
        process.wait(timeout=60)
        assert process.stderr is not None
        log = process.stderr.read()
    assert process.returncode == -signal.SIGTERM
    assert "Traceback" not in log
    # the stream ended by an event, at once, not by a cut
    *_, last = str(results["events"]).strip().split("\n\n")
    name, data = last.split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: ")) | {"message": ""} == {
        "code": "stopping", "message": "", "retryable": True,
    }  # fmt: skip
    # the request that took too long is told so
    waited = results["wait"]
    assert isinstance(waited, httpx.Response), waited
    assert (waited.status_code, waited.json()["error"]["code"]) == (503, "stopping")
    assert waited.headers["Retry-After"]
    # the upload that was on its way is accepted
    assert answer.startswith(b"HTTP/1.1 202 ")
    with psycopg.connect(empty_database) as connection:
        rows = connection.execute("select status, attempts from rag.job").fetchall()
    assert rows == [("received", 0), ("received", 0)], "handed back, and no attempt counts"
    embedding.rule = lambda _request: None
    with serving(home, **environment) as (_, url):
        until(lambda: len(httpx.get(f"{url}/v1/documents?status=ready").json()["documents"]) == 2)


def _half_an_upload(url: str) -> socket.socket:
    """A connection on which the first half of a document has been sent."""
    address = httpx.URL(url)
    connection = socket.create_connection((address.host, address.port or 80))
    body = _body()
    head = (
        f"POST /v1/documents HTTP/1.1\r\nHost: {address.host}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body[: len(body) // 2])
    return connection


def _the_other_half(connection: socket.socket) -> bytes:
    """The answer to the whole of it."""
    body = _body()
    with connection:
        connection.sendall(body[len(body) // 2 :])
        return b"".join(iter(lambda: connection.recv(65536), b""))


def _body() -> bytes:
    part = '--b\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\n'
    return part.encode() + "滤芯每三个月更换一次。".encode() * 2000 + b"\r\n--b--\r\n"
