"""Body limits and clients that go away, over real sockets."""

from __future__ import annotations

import json
import socket
import tracemalloc
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.requests import Request

from service.api.edge.upload_form import receive_form
from service.config import LimitSettings, Settings
from tests.api.conftest import api_settings, files_below
from tests.api.live import live_server, until
from tests.cases import case
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder

MB = 1024 * 1024
HEAD = b'--b\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\n\r\n'
TAIL = b"\r\n--b--\r\n"
MULTIPART = {"Content-Type": "multipart/form-data; boundary=b"}


class Site:
    """A running server and the folders behind it."""

    def __init__(self, url: str, settings: Settings) -> None:
        self.url = url
        self.settings = settings

    def total(self) -> int:
        return int(httpx.get(f"{self.url}/v1/documents").json()["total"])

    def uploads_under_way(self) -> list[Path]:
        assert self.settings.server.upload_folder is not None
        return files_below(self.settings.server.upload_folder)

    def originals(self) -> list[Path]:
        return files_below(self.settings.home / "originals")


@pytest.fixture(scope="module")
def site(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with databases.fresh() as database:
        settings = api_settings(database, tmp_path_factory.mktemp("live"))
        with live_server(settings, HashEmbedder(384)) as url:
            yield Site(url, settings)


@pytest.fixture
def connection(site: Site) -> Iterator[socket.socket]:
    address = urlsplit(site.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as opened:
        yield opened


def begin_upload(connection: socket.socket, *headers: str) -> None:
    lines = ["POST /v1/documents HTTP/1.1", "Host: fuzi", "Content-Type: multipart/form-data; boundary=b", *headers]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())


def send_chunk(connection: socket.socket, data: bytes) -> None:
    connection.sendall(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def answer(connection: socket.socket) -> tuple[int, dict[str, object]]:
    """Status and error of the answer, read while the request is still open."""
    response = HTTPResponse(connection)
    response.begin()
    return response.status, json.loads(response.read())["error"]


@pytest.mark.case("BR-029")
def test_a_declared_length_over_the_limit_is_refused_before_the_first_byte(
    site: Site, connection: socket.socket
) -> None:
    """BR-029"""
    assert site.settings.limits.max_upload_mb == case("BR-029").input["limit_mb"]
    begin_upload(connection, f"Content-Length: {case('BR-029').input['upload_mb'] * MB}")
    status, error = answer(connection)
    assert (status, error["code"], error["details"]) == (413, "too_large", {"limit_mb": 10})
    assert (site.total(), site.uploads_under_way(), site.originals()) == (0, [], [])


@pytest.mark.case("BR-029")
def test_a_chunked_body_is_refused_as_soon_as_it_is_over_the_limit(site: Site, connection: socket.socket) -> None:
    """BR-029"""
    begin_upload(connection, "Transfer-Encoding: chunked")
    send_chunk(connection, HEAD)
    for _ in range(case("BR-029").input["limit_mb"]):
        send_chunk(connection, b"x" * MB)
    send_chunk(connection, b"x")  # the upload goes on, but this byte is one too many
    status, error = answer(connection)
    assert (status, error["code"], error["details"]) == (413, "too_large", {"limit_mb": 10})
    assert (site.total(), site.uploads_under_way(), site.originals()) == (0, [], [])


@pytest.mark.parametrize("declared", [True, False], ids=["with Content-Length", "chunked"])
def test_a_client_that_sends_everything_first_reads_the_answer_too(site: Site, declared: bool) -> None:
    pieces = [HEAD, *([b"x" * MB] * 40), TAIL]
    headers = MULTIPART | ({"Content-Length": str(sum(map(len, pieces)))} if declared else {})
    response = httpx.post(f"{site.url}/v1/documents", content=iter(pieces), headers=headers, timeout=60)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")


def test_every_path_has_a_limit(site: Site) -> None:
    body = json.dumps({"query": "水", "collections": ["a" * 100] * 20_000}).encode()
    assert len(body) > site.settings.limits.max_request_mb * MB
    for content in (body, iter([body])):
        response = httpx.post(f"{site.url}/v1/search", content=content, headers={"Content-Type": "application/json"})
        assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")


def test_a_client_that_goes_away_leaves_nothing(site: Site, connection: socket.socket) -> None:
    begin_upload(connection, "Transfer-Encoding: chunked")
    send_chunk(connection, HEAD)
    for _ in range(3):
        send_chunk(connection, b"x" * MB)
    until(site.uploads_under_way)
    connection.close()
    until(lambda: not site.uploads_under_way())
    assert (site.total(), site.originals()) == (0, [])


def test_a_connection_that_is_cut_in_the_last_boundary_leaves_nothing(site: Site, connection: socket.socket) -> None:
    begin_upload(connection, f"Content-Length: {len(HEAD) + 10 + len(TAIL)}")
    connection.sendall(HEAD + b"x" * 10 + TAIL[:-3])
    until(site.uploads_under_way)
    connection.shutdown(socket.SHUT_RDWR)
    until(lambda: not site.uploads_under_way())
    assert (site.total(), site.originals()) == (0, [])


async def test_an_upload_is_not_kept_in_memory(tmp_path: Path) -> None:
    limits = LimitSettings(max_upload_mb=100)
    pieces = iter([HEAD, *([b"x" * 65_536] * 1024), TAIL])

    async def receive() -> dict[str, object]:
        piece = next(pieces, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    request = Request({"type": "http", "headers": [(b"content-type", MULTIPART["Content-Type"].encode())]}, receive)
    tracemalloc.start()
    try:
        async with receive_form(request, tmp_path, limits) as form:
            peak = tracemalloc.get_traced_memory()[1]
            assert form.path.stat().st_size == 64 * MB
    finally:
        tracemalloc.stop()
    assert peak < 8 * MB
    assert list(tmp_path.iterdir()) == []
