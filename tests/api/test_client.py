"""The client against a running server: what goes in comes out, and errors are the server's own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from service import errors
from service.client import FuziClient, ServerError
from service.errors import FuziError, InvalidInput, Unavailable
from tests.api.conftest import api_settings
from tests.api.live import live_server
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder


@pytest.fixture(scope="module")
def url(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with databases.fresh() as database:
        settings = api_settings(database, tmp_path_factory.mktemp("client"))
        with live_server(settings, HashEmbedder(384)) as running:
            yield running


@pytest.fixture
def client(url: str) -> Iterator[FuziClient]:
    with FuziClient(url) as opened:
        yield opened


def test_a_document_goes_in_is_found_and_goes_out(client: FuziClient, tmp_path: Path) -> None:
    path = tmp_path / "产品手册 第1版.txt"
    path.write_text("更换滤芯时，请使用型号 AX-200B 的滤芯。", encoding="utf-8")
    uploaded = client.ingest(path, source="手册/产品.txt", collection="产品", title="产品手册", metadata={"年": 2024})
    assert (uploaded["outcome"], uploaded["source"], uploaded["child_count"]) == ("created", "手册/产品.txt", 1)
    assert client.ingest(path, source="手册/产品.txt", collection="产品")["outcome"] == "unchanged"
    document = client.document(uploaded["document_id"])
    assert (document["file_name"], document["title"], document["metadata"]) == (path.name, "产品手册", {"年": 2024})
    page = client.documents(collection="产品", source="产品", status="ready", limit=10, offset=0)
    assert (page["documents"], page["total"]) == ([document], 1)

    found = client.search("AX-200B", top_n=1, filters={"metadata": {"年": {"$gte": 2024}}})
    assert [passage["source"] for passage in found["passages"]] == ["手册/产品.txt"]
    first, second = client.search_batch(["AX-200B", {"query": "AX-200B", "collections": ["没有"]}], top_n=1)
    assert first["answer"] is not None
    assert [passage["source"] for passage in first["answer"]["passages"]] == ["手册/产品.txt"]
    assert second["answer"] is None
    assert second["error"] is not None
    assert second["error"]["code"] == "collection_not_found"
    text = client.text(uploaded["document_id"])["text"]
    chunks = client.chunks(uploaded["document_id"])
    assert all(text[c["start"] : c["end"]] == c["content"] for c in chunks["parents"] + chunks["children"])
    client.save_original(uploaded["document_id"], tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == path.read_bytes()

    client.delete(uploaded["document_id"])
    with pytest.raises(errors.DocumentNotFound, match=uploaded["document_id"]):
        client.document(uploaded["document_id"])
    assert client.ready() == {"status": "ready", "reasons": [], "replica": None}


class Cutting(httpx.HTTPTransport):
    """The real transport; the body of an original breaks off after so many bytes, each time that is left."""

    def __init__(self, after: int, times: int) -> None:
        super().__init__()
        self.after, self.times = after, times
        self.ranges: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if not request.url.path.endswith("/original"):
            return response
        self.ranges.append(request.headers.get("Range"))
        if self.times == 0:
            return response
        self.times -= 1
        return httpx.Response(response.status_code, headers=response.headers, stream=self._cut(response))

    def _cut(self, response: httpx.Response) -> httpx.SyncByteStream:
        after = self.after

        class Cut(httpx.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                yield response.read()[:after]
                raise httpx.ReadError("cut")

        return Cut()


def test_a_download_that_is_cut_goes_on_where_it_was(url: str, client: FuziClient, tmp_path: Path) -> None:
    path = tmp_path / "水泵.txt"
    path.write_text("更换滤芯时，请使用型号 AX-200B 的滤芯。" * 50, encoding="utf-8")
    id_, content, target = client.ingest(path)["document_id"], path.read_bytes(), tmp_path / "copy"
    transport = Cutting(1000, times=2)
    with FuziClient(url, transport=transport) as cut:
        cut.save_original(id_, target)
    assert (target.read_bytes(), transport.ranges) == (content, [None, "bytes=1000-", "bytes=2000-"])

    target.unlink()
    with FuziClient(url, transport=Cutting(100, times=99)) as cut, pytest.raises(Unavailable):
        cut.save_original(id_, target)
    assert not target.exists()
    (part,) = tmp_path.glob("*.part")
    assert part.read_bytes() == content[:400]
    client.save_original(id_, target)
    assert (target.read_bytes(), part.exists()) == (content, False)

    part.write_bytes(content)  # stopped just before its name was changed
    client.save_original(id_, target)
    assert (target.read_bytes(), part.exists()) == (content, False)
    part.write_bytes(b"?" * 10)  # not ours: noticed by the hash, and begun anew
    client.save_original(id_, target)
    assert (target.read_bytes(), part.exists()) == (content, False)


def test_the_servers_errors_are_raised_as_they_are(client: FuziClient, tmp_path: Path) -> None:
    missing = uuid4()
    for call in (client.document, client.text, client.chunks, client.delete):
        with pytest.raises(errors.DocumentNotFound) as caught:
            call(missing)
        assert caught.value.details == {"document_id": str(missing)}
    with pytest.raises(errors.DocumentNotFound):
        client.save_original(missing, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    with pytest.raises(errors.InvalidRequest, match="top_n"):
        client.search("水", top_n=0)
    with pytest.raises(errors.InvalidRequest, match="topN"):
        client.search("水", topN=1)
    with pytest.raises(errors.InvalidFilter):
        client.search("水", filters={"metadata": {"$nor": []}})
    with pytest.raises(errors.CollectionNotFound):
        client.search("水", collections=["没有"])
    with pytest.raises(errors.InvalidRequest):
        client.documents(limit=1000)
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(errors.EmptyFile):
        client.ingest(tmp_path / "empty.txt")
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(errors.Corrupt) as failed:
        client.ingest(tmp_path / "broken.docx")
    assert client.document(failed.value.details["document_id"])["status"] == "failed"
    with pytest.raises(errors.InvalidMetadata):
        client.ingest(tmp_path / "broken.docx", metadata={"a": float("nan")})
    with pytest.raises(errors.InvalidInput, match="no id of a document"):
        client.document("../search")
    with pytest.raises(FileNotFoundError):
        client.ingest(tmp_path / "nothing.txt")


def answering(status: int, content: bytes) -> FuziClient:
    transport = httpx.MockTransport(lambda _request: httpx.Response(status, content=content))
    return FuziClient("http://fuzi.test", transport=transport)


def all_errors(kind: type[FuziError] = FuziError) -> Iterator[type[FuziError]]:
    yield kind
    for leaf in kind.__subclasses__():
        yield from all_errors(leaf)


def test_every_code_becomes_its_own_class() -> None:
    for kind in all_errors():
        if kind is ServerError or kind.__module__ != "service.errors":
            continue
        body = {"error": {"code": kind.code, "message": "m", "retryable": True, "request_id": "r", "details": {"a": 1}}}
        with pytest.raises(FuziError) as caught:
            answering(kind.http_status, json.dumps(body).encode()).documents()
        assert type(caught.value) is kind
        assert (caught.value.message, caught.value.details) == ("m", {"a": 1})


@pytest.mark.parametrize(
    ("status", "content", "kind"),
    [
        (200, b"<html>", Unavailable),
        (200, b"[]", Unavailable),
        (502, b"Bad Gateway", Unavailable),
        (504, b"", Unavailable),
        (404, b"not here", ServerError),
        (500, b'{"error": "text"}', ServerError),
        (302, b"", ServerError),
    ],
)
def test_an_answer_that_is_not_fuzis(status: int, content: bytes, kind: type[FuziError]) -> None:
    with pytest.raises(kind):
        answering(status, content).documents()


def test_an_error_of_a_newer_server_keeps_its_code() -> None:
    body = {"error": {"code": "teapot", "message": "m", "details": {"code": 7, "message": "x", "a": 1}}}
    with pytest.raises(FuziError) as caught:
        answering(418, json.dumps(body).encode()).documents()
    assert (caught.value.message, caught.value.details) == ("m", {"a": 1, "code": "teapot"})


def test_a_server_that_cannot_be_reached() -> None:
    with FuziClient("http://127.0.0.1:1") as client:
        for call in (client.documents, client.ready, lambda: client.search("水"), lambda: client.delete(uuid4())):
            with pytest.raises(Unavailable, match=r"http://127\.0\.0\.1:1"):
                call()

    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow", request=request)

    with pytest.raises(Unavailable, match="in time"):
        FuziClient("http://fuzi.test", transport=httpx.MockTransport(slow)).documents()


@pytest.mark.parametrize("url", ["", "fuzi", "ftp://fuzi", "http://[", "http://a b", "http://:x"])
def test_a_url_that_is_none_is_said_so(url: str) -> None:
    with pytest.raises((errors.InvalidInput, Unavailable)), FuziClient(url) as client:
        client.documents()


def test_the_key_is_sent_and_not_shown() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["Authorization"])
        return httpx.Response(200, json={"documents": [], "total": 0, "limit": 50, "offset": 0})

    client = FuziClient("http://fuzi.test/", "geheim", transport=httpx.MockTransport(answer))
    assert client.documents()["documents"] == []
    assert seen == ["Bearer geheim"]
    assert "geheim" not in repr(client)


def test_without_one_given_the_key_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("Authorization"))
        return httpx.Response(200, json={"documents": [], "total": 0, "limit": 50, "offset": 0})

    for key, variable in ((None, " fuzi_umwelt\n"), ("", "fuzi_umwelt"), ("eigen", "fuzi_umwelt")):
        monkeypatch.setenv("FUZI_API_KEY", variable)
        FuziClient("http://fuzi.test", key, transport=httpx.MockTransport(answer)).documents()
    assert sent == ["Bearer fuzi_umwelt", None, "Bearer eigen"]
    with pytest.raises(InvalidInput):
        FuziClient("http://fuzi.test", "密钥")


BAD: dict[str, Callable[[FuziClient, Path], object]] = {
    "surrogate in a query": lambda client, _: client.search("a\ud800"),
    "NaN as a weight": lambda client, _: client.search("a", vector_weight=math.nan),
    "no JSON as a filter": lambda client, _: client.search("a", filters={"document_ids": [object()]}),
    "surrogate in a source": lambda client, path: client.ingest(path, source="a\ud800"),
    "surrogate in metadata": lambda client, path: client.ingest(path, metadata={"a": "\ud800"}),
    "no JSON in metadata": lambda client, path: client.ingest(path, metadata={"a": {1}}),
    "surrogate in a list": lambda client, _: client.documents(source="\ud800"),
    "surrogate among jobs": lambda client, _: client.jobs(collection="\ud800"),
    "NUL in a job id": lambda client, _: client.change_job("\0", "cancel"),
    "no name of a collection": lambda client, _: client.collection(""),
    "this folder as a collection": lambda client, _: client.put_collection(".", {}),
    "a path as a collection": lambda client, _: client.resplit("a/../b"),
    "a path as a job id": lambda client, _: client.change_job("../x", "cancel"),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD.keys())
def test_what_cannot_be_written_is_an_error_of_ours_and_never_sent(
    call: Callable[[FuziClient, Path], object], tmp_path: Path
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    path = tmp_path / "a.txt"
    path.write_text("值班安排。")
    with FuziClient("http://fuzi.test", transport=httpx.MockTransport(refuse)) as client, pytest.raises(InvalidInput):
        call(client, path)
