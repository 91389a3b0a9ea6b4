"""The multipart form: what is refused, in words, and that nothing is left behind by it."""

from __future__ import annotations

import pytest

from tests.api.conftest import Api, problem
from tests.api.uploads.multipart import part, send
from tests.cases import case

FILE = part('name="file"; filename="a.txt"')
SOURCE = part('name="source"', "甲.txt".encode())

REFUSED: dict[str, tuple[list[bytes], str]] = {
    "no file": ([SOURCE], "'file' is missing"),
    "empty form": ([], "'file' is missing"),
    "two files": ([FILE, FILE], "more than one file: send one request for each"),
    "doubled field": ([SOURCE, SOURCE, FILE], "'source' is given more than once"),
    "unknown field": ([part('name="colection"', b"a"), FILE], "unknown form field 'colection'; known are file, source"),
    "unknown file": ([part('name="upload"; filename="a.txt"')], "unknown form field 'upload'"),
    "file without a name": ([part('name="file"')], "must be a file with a file name"),
    "no file chosen": ([part('name="file"; filename=""')], "must be a file with a file name"),
    "metadata as a file": ([part('name="metadata"; filename="m.json"', b"{}"), FILE], "'metadata' must be text"),
    "no name": ([part('filename="a.txt"')], "each part needs a header"),
    "text in another encoding": ([part('name="source"', "甲".encode("gbk")), FILE], "'source' is not UTF-8"),
    "base64": ([part('name="file"; filename="a.txt"', b"eA==", "Content-Transfer-Encoding: base64")], "sent as they"),
    "control characters in the title": ([part('name="title"', b"a\x00b"), FILE], "title must not contain control"),
    "control characters in the source": ([part('name="source"', b"a\x00b"), FILE], "source must not contain control"),
    "blank source": ([part('name="source"', b" "), FILE], "source must not be empty"),
    "long source": ([part('name="source"', b"a" * 1025), FILE], "source has 1025 characters, the limit is 1024"),
    "long title": ([part('name="title"', b"a" * 1001), FILE], "title has 1001 characters"),
    "bad collection": ([part('name="collection"', b"a/b"), FILE], "a collection name has"),
    "blank collection": ([part('name="collection"', b""), FILE], "a collection name has"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_wrong_form_is_refused_in_words(refusing_api: Api, name: str) -> None:
    parts, words = REFUSED[name]
    response = await send(refusing_api, *parts)
    assert response.status_code == 422
    assert words in problem(response)["message"]
    assert (await refusing_api.total(), refusing_api.originals(), refusing_api.uploads_under_way()) == (0, [], [])


async def test_a_body_that_is_cut_off_is_no_document(refusing_api: Api) -> None:
    for end in (b"", b"--", b"------fu"):
        response = await send(refusing_api, SOURCE, FILE, end=end)
        assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")
        assert "cut off" in problem(response)["message"]
    assert (await refusing_api.total(), refusing_api.originals(), refusing_api.uploads_under_way()) == (0, [], [])


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "multipart/form-data", "multipart/mixed; boundary=x", "", "multipart/form-data; boundary="],
)
async def test_another_content_type_is_refused(refusing_api: Api, content_type: str) -> None:
    response = await refusing_api.http.post("/v1/documents", content=b"{}", headers={"Content-Type": content_type})
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")
    assert "multipart/form-data" in problem(response)["message"]


async def test_a_malformed_body_is_refused(refusing_api: Api) -> None:
    for body in (b"garbage", b"------fuzi\r\nno colon\r\n\r\n", b"\r\n" * 5, b"------fuzi--"):
        response = await send(refusing_api, body, end=b"")
        assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")
    long_boundary = {"Content-Type": f"multipart/form-data; boundary={'b' * 300}"}
    response = await refusing_api.http.post("/v1/documents", content=b"x", headers=long_boundary)
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")


async def test_a_field_over_its_limit(refusing_api: Api) -> None:
    for name in ("source", "collection", "title"):
        response = await send(refusing_api, part(f'name="{name}"', b"a" * 10_000), FILE)
        assert (response.status_code, problem(response)["details"]) == (413, {"limit_bytes": 8192})
    response = await refusing_api.upload("a.txt", "文。", metadata='{"a": "%s"}' % ("x" * 70_000))
    assert (response.status_code, problem(response)["details"]) == (413, {"limit_bytes": 65_536})
    assert (await refusing_api.total(), refusing_api.uploads_under_way()) == (0, [])


async def test_fields_may_follow_the_file(api: Api) -> None:
    response = await send(api, FILE, SOURCE, part('name="collection"', "合同 2024".encode()))
    assert response.status_code == 201
    assert (response.json()["source"], response.json()["collection"]) == ("甲.txt", "合同 2024")


@pytest.mark.case("BR-028")
async def test_an_empty_file_is_refused(refusing_api: Api) -> None:
    """BR-028"""
    response = await refusing_api.upload(case("BR-028").input["file_name"], b"")
    assert (response.status_code, problem(response)["code"]) == (422, "empty_file")
    assert "empty" in problem(response)["message"]
    assert (await refusing_api.total(), refusing_api.originals(), refusing_api.uploads_under_way()) == (0, [], [])


@pytest.mark.case("BR-030")
async def test_metadata_that_jsonb_cannot_hold(api: Api) -> None:
    """BR-030"""
    statuses = []
    for position, raw in enumerate(case("BR-030").input["metadata_raw"]):
        response = await api.upload(f"{position}.txt", "内容。", metadata=raw)
        statuses.append(response.status_code)
        if response.status_code == 201:
            document = await api.http.get(f"/v1/documents/{response.json()['document_id']}")
            assert document.json()["metadata"] == {"a": "xy"}
        else:
            assert problem(response)["code"] == "invalid_metadata"
    assert statuses == [422, 201, 422, 422, 422]


HOSTILE_METADATA = {
    "deep": '{"a": ' + "[" * 200 + "]" * 200 + "}",
    "unclosed": "[" * 60_000,
    "long number": '{"n": ' + "9" * 5000 + "}",
    "lone surrogate": '{"a": "\\ud800"}',
    "NUL in a key": '{"\\u0000": 1}',
}


@pytest.mark.parametrize("raw", HOSTILE_METADATA.values(), ids=HOSTILE_METADATA.keys())
async def test_hostile_metadata_never_breaks_the_service(api: Api, raw: str) -> None:
    response = await api.upload("a.txt", "内容。", metadata=raw)
    assert response.status_code in {201, 422}
    if response.status_code == 201:
        assert (await api.http.get(f"/v1/documents/{response.json()['document_id']}")).status_code == 200
