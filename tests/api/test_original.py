"""Downloads of originals: whole, in ranges, conditional."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.api.edge.ranges import Unsatisfiable, parse_range
from service.client import FuziClient
from service.config import JobSettings
from service.extract import Extractor
from tests.api.conftest import Api, api_settings, fresh_api, problem
from tests.api.live import live_server
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.s3.server import CutDownload, Pass, S3Proxy, S3Server, Status

CONTENT = ("设备每三个月保养一次。保养前请先切断电源。" * 40_000).encode()


@pytest.fixture(scope="module")
async def api(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, extractor: Extractor
) -> AsyncIterator[Api]:
    """One application for the module, in which nobody works on jobs: an accepted original is there at once."""
    idle = JobSettings(inside_serve=False)
    async with fresh_api(databases, tmp_path_factory.mktemp("original"), extractor, jobs=idle) as opened:
        yield opened


@pytest.fixture(scope="module")
async def path(api: Api) -> str:
    accepted = await api.http.post("/v1/documents", files={"file": ('水泵 "A".txt', CONTENT)})
    assert accepted.status_code == 202
    return f"/v1/documents/{accepted.json()['document_id']}/original"


async def ask(api: Api, path: str, **headers: str) -> httpx.Response:
    return await api.http.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


async def test_the_whole_file(api: Api, path: str) -> None:
    answer = await ask(api, path)
    etag = f'"{hashlib.sha256(CONTENT).hexdigest()}"'
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert (answer.headers["ETag"], answer.headers["Accept-Ranges"]) == (etag, "bytes")
    assert answer.headers["Content-Length"] == str(len(CONTENT))
    disposition = answer.headers["Content-Disposition"]
    assert disposition.isascii()
    assert unquote(disposition.partition("filename*=UTF-8''")[2]) == '水泵 "A".txt'
    assert (answer.headers["X-Content-Type-Options"], "sandbox" in answer.headers["Content-Security-Policy"]) == (
        "nosniff",
        True,
    )
    head = await api.http.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Content-Length", "Content-Type", "Content-Disposition", "Accept-Ranges"):
        assert head.headers[name] == answer.headers[name], name


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=5-20", 5, 21),
        ("Bytes = 5-20 ", 5, 21),
        ("bytes=100-", 100, None),
        ("bytes=-7", -7, None),
        (f"bytes=-{len(CONTENT) + 5}", 0, None),
        (f"bytes={len(CONTENT) - 1}-{len(CONTENT) + 5}", -1, None),
        ("bytes=1000000-2099999", 1_000_000, 2_100_000),
    ],
)
async def test_one_range(api: Api, path: str, asked: str, start: int, end: int | None) -> None:
    answer = await ask(api, path, Range=asked)
    assert (answer.status_code, answer.content) == (206, CONTENT[start:end])
    first, last, size = map(int, re.findall(r"\d+", answer.headers["Content-Range"]))
    assert answer.headers["Content-Length"] == str(last - first + 1) == str(len(answer.content))
    assert (CONTENT[first : last + 1], size) == (answer.content, len(CONTENT))


@pytest.mark.parametrize("asked", ["bytes=9-5", "bytes=-", "bytes=a-b", "bytes=0-1,5-6", "lines=0-5", "bytes=٣-٤", "5"])
async def test_what_is_no_single_range_is_answered_with_the_whole(api: Api, path: str, asked: str) -> None:
    response = await api.http.get(path, headers={"Range": asked.encode()})  # type: ignore[dict-item]
    assert (response.status_code, response.content) == (200, CONTENT)


@pytest.mark.parametrize("asked", [f"bytes={len(CONTENT)}-", f"bytes={10**17}-{10**17 + 5}", "bytes=-0"])
async def test_a_range_beyond_the_end(api: Api, path: str, asked: str) -> None:
    answer = await ask(api, path, Range=asked)
    assert (answer.status_code, answer.headers["Content-Range"]) == (416, f"bytes */{len(CONTENT)}")
    assert problem(answer)["code"] == "range_not_satisfiable"


async def test_conditions(api: Api, path: str) -> None:
    etag = (await api.http.head(path)).headers["ETag"]
    for given_tag in (etag, f'"x", W/{etag}', "*"):
        for method in ("GET", "HEAD"):
            answer = await api.http.request(method, path, headers={"If-None-Match": given_tag, "Range": "bytes=0-1"})
            assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", etag)
    assert (await ask(api, path, If_None_Match='"other"')).status_code == 200
    assert (await ask(api, path, Range="bytes=0-1", If_Range=etag)).status_code == 206
    for changed in ('"other"', f"W/{etag}", "Mon, 30 Nov 2026 00:00:00 GMT"):
        whole = await ask(api, path, Range="bytes=0-1", If_Range=changed)
        assert (whole.status_code, len(whole.content)) == (200, len(CONTENT))


@given(size=st.integers(0, 60), first=st.none() | st.integers(0, 70), last=st.none() | st.integers(0, 70))
def test_a_range_is_the_slice_that_the_rfc_means(size: int, first: int | None, last: int | None) -> None:
    """The model is the RFC's wording, byte by byte."""
    content = bytes(range(size))
    shown = ["" if number is None else str(number) for number in (first, last)]
    if first is not None:
        wanted = bytes(at for at in content if at >= first and (last is None or at <= last))
    else:
        wanted = content[max(0, size - last) :] if last is not None else b""
    no_range = (first is None and last is None) or (first is not None and last is not None and last < first)
    try:
        found = parse_range(f"bytes={shown[0]}-{shown[1]}", size)
    except Unsatisfiable:
        assert not wanted
        assert not no_range
    else:
        assert (found is None) == no_range
        assert found is None or (content[slice(*found)] == wanted and wanted)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(0, len(CONTENT) - 1), length=st.integers(1, 3 * 1024 * 1024))
async def test_any_answer_to_a_range_is_the_slice(api: Api, path: str, start: int, length: int) -> None:
    answer = await ask(api, path, Range=f"bytes={start}-{start + length - 1}")
    assert (answer.status_code, answer.content) == (206, CONTENT[start : start + length])


async def test_the_etag_is_that_of_the_bytes_while_uploads_overtake_each_other(api: Api) -> None:
    for number in range(4):
        content = os.urandom(50).hex() + "。"
        accepted = await api.http.post(
            "/v1/documents", files={"file": (f"{number}.txt", content)}, data={"source": "a"}
        )
        answer = await ask(api, f"/v1/documents/{accepted.json()['document_id']}/original")
        assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.content).hexdigest()}"'


async def test_a_missing_document(api: Api) -> None:
    for headers in ({}, {"Range": "bytes=0-1"}):
        answer = await api.http.get(f"/v1/documents/{uuid4()}/original", headers=headers)
        assert (answer.status_code, problem(answer)["code"]) == (404, "document_not_found")
    assert (await api.http.head(f"/v1/documents/{uuid4()}/original")).status_code == 404


async def test_every_status_is_documented(api: Api) -> None:
    described = (await api.http.get("/openapi.json")).json()["paths"]["/v1/documents/{document_id}/original"]
    assert described["get"]["responses"].keys() >= {"200", "206", "304", "416", "default"}
    assert described["head"]["responses"].keys() >= {"200", "304", "default"}
    assert {parameter["name"] for parameter in described["get"]["parameters"]} == {
        "document_id",
        "Range",
        "If-Range",
        "If-None-Match",
    }


def test_a_store_that_breaks_off_is_never_taken_for_the_end(
    database: str, s3_server: S3Server, s3_proxy: S3Proxy, bucket: str, tmp_path: Path
) -> None:
    originals = s3_server.settings(f"s3://{bucket}", s3_proxy.address)
    update = {"originals": originals, "jobs": JobSettings(inside_serve=False)}
    settings = api_settings(database, tmp_path).model_copy(update=update)
    with live_server(settings, HashEmbedder(384)) as url, FuziClient(url) as client:
        accepted = httpx.post(f"{url}/v1/documents", files={"file": ("a.txt", CONTENT)}, timeout=60)
        id_ = accepted.json()["document_id"]
        s3_proxy.always = CutDownload(after=1_500_000)
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{url}/v1/documents/{id_}/original", timeout=60)
        s3_proxy.always = Status(503, "SlowDown")
        refused = httpx.get(f"{url}/v1/documents/{id_}/original", timeout=60)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "originals_unavailable")
        s3_proxy.always = Pass()
        s3_proxy.script(CutDownload(after=1_500_000))
        client.save_original(id_, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == CONTENT
