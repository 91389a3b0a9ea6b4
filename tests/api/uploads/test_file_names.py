"""File names: Chinese ones in both directions, and such that would be paths."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from service.api.edge.dispositions import PartName, attachment, parse_part_name
from tests.api.conftest import Api, problem
from tests.api.uploads.multipart import part, send
from tests.cases import case


@pytest.mark.case("BR-026")
async def test_a_chinese_name_comes_back_unchanged(api: Api) -> None:
    """BR-026"""
    given, expected = case("BR-026").input, case("BR-026").expected
    document_id = await api.put(given["file_name"], given["content"])
    listed = (await api.http.get("/v1/documents")).json()["documents"][0]
    detail = (await api.http.get(f"/v1/documents/{document_id}")).json()
    assert listed == detail
    assert (detail["file_name"], detail["source"]) == (given["file_name"], given["file_name"])
    original = await api.http.get(f"/v1/documents/{document_id}/original")
    assert (original.status_code, original.content) == (200, given["content"].encode())
    assert expected["content_disposition_contains"] in original.headers["Content-Disposition"]


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('name="file"; filename="产品手册.txt"'.encode(), "产品手册.txt"),
        ('name="file"; filename="产品手册 誠.txt"'.encode("gb18030"), "产品手册 誠.txt"),
        (f"name=\"file\"; filename*=UTF-8''{quote('产品 1.txt')}".encode(), "产品 1.txt"),
        (f"name=\"file\"; filename*=utf-8'zh'{quote('产品.txt')}; size=3".encode(), "产品.txt"),
        (f"name=\"file\"; filename==?utf-8?B?5LiA?=; filename*=utf-8''{quote('一.txt')}".encode(), "一.txt"),
        (f"name=\"file\"; filename*=GB18030''{quote('产品.txt'.encode('gb18030'))}".encode(), "产品.txt"),
        (b'name="file"; filename="a; filename*=UTF-8\'\'b.txt"', "a; filename*=UTF-8''b.txt"),
        (b'name="file"; filename="a%22b.txt"', 'a"b.txt'),
        (b'name="file"; filename="a\\"b.txt"', 'a"b.txt'),
        (b'name="file"; filename="100%.txt"', "100%.txt"),
        (b"name=file; filename=plain.txt", "plain.txt"),
        (b'name="file"; filename="e\xcc\x81.txt"', "e\u0301.txt"),
    ],
)
async def test_names_are_read_in_every_form_that_clients_write(disposition: bytes, name: str) -> None:
    assert parse_part_name(b"form-data; " + disposition) == PartName("file", name)


@pytest.mark.parametrize(
    "disposition",
    [
        b"name=\"file\"; filename*=UTF-8''%ff.txt",
        b"name=\"file\"; filename*=no-such''a",
        b'name="file"; filename="\xff\xff"',
    ],
)
async def test_an_unreadable_name_is_refused(refusing_api: Api, disposition: bytes) -> None:
    response = await send(refusing_api, part(disposition))
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")


@pytest.mark.parametrize("name", ["..", "/", "a/..", "a\\..", ".", " ", "a\tb.txt", "a\0b.txt", "甲" * 256])
async def test_a_name_that_names_no_file_is_refused(refusing_api: Api, name: str) -> None:
    response = await send(refusing_api, part(f"name=\"file\"; filename*=UTF-8''{quote(name, safe='')}"))
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")


@pytest.mark.case("BR-027")
async def test_a_name_is_never_a_path(api: Api, tmp_path: Path) -> None:
    """BR-027"""
    names = [*case("BR-027").input["file_names"], "..\\..\\outside.ini", "C:\\Users\\甲\\outside.txt"]
    content = case("BR-027").input["content"].encode()
    for name in names:
        response = await send(api, part(f"name=\"file\"; filename*=UTF-8''{quote(name, safe='')}", content))
        assert response.status_code == 201
        document = (await api.http.get(response.headers["Location"])).json()
        assert not {"", ".", ".."} & set(document["source"].split("/"))
        assert document["file_name"] == document["source"].rsplit("/", 1)[-1]
        original = await api.http.get(f"{response.headers['Location']}/original")
        assert original.content == content
    assert {path.name for path in tmp_path.iterdir()} == {"home", "uploads"}
    assert not list(tmp_path.parent.rglob("outside*"))
    originals = api.originals()
    assert all("home/originals/rag" in str(path) for path in originals)
    documents = (await api.http.get("/v1/documents")).json()["documents"]
    assert len(originals) == len(documents)
    await api.http.delete(f"/v1/documents/{documents[0]['document_id']}")
    assert len(api.originals()) == len(documents) - 1


async def test_folders_in_the_name_keep_sources_apart(api: Api) -> None:
    """A browser that uploads a folder sends `a/readme.md` and `b/readme.md`: two documents, not one."""
    for name in ("a/readme.md", "b/readme.md"):
        await api.put(name, "说明。")
    documents = (await api.http.get("/v1/documents")).json()["documents"]
    assert {(document["source"], document["file_name"]) for document in documents} == {
        ("a/readme.md", "readme.md"),
        ("b/readme.md", "readme.md"),
    }


async def test_a_decomposed_name_is_stored_composed(api: Api) -> None:
    """macOS writes e and its accent apart; the same name typed elsewhere must be the same source."""
    first = await api.put("re\u0301sume\u0301.txt", "简历。")
    again = await api.upload("r\u00e9sum\u00e9.txt", "简历。")
    assert (again.json()["outcome"], again.json()["document_id"]) == ("unchanged", first)


async def test_an_original_keeps_its_own_charset_and_stays_harmless(api: Api) -> None:
    gbk, page = (
        "中文内容，没有声明编码。".encode("gbk"),
        b"<html><script>alert(1)</script><p>\xe9\xa1\xb5\xe9\x9d\xa2</p></html>",
    )
    for name, content in (("gbk.txt", gbk), ("page.html", page)):
        document_id = await api.put(name, content)
        original = await api.http.get(f"/v1/documents/{document_id}/original")
        media_type = (await api.http.get(f"/v1/documents/{document_id}")).json()["media_type"]
        assert original.content == content
        assert original.headers["Content-Type"] == media_type
        assert "utf-8" not in original.headers["Content-Type"].lower()
        assert original.headers["Content-Length"] == str(len(content))
        assert original.headers["Content-Disposition"].startswith("attachment;")
        assert original.headers["X-Content-Type-Options"] == "nosniff"
        assert original.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("name", ["a.txt", 'a"b\\c%.txt', "产品 手册;1.txt", "x\u202etxt.exe", "😀.md"])
async def test_the_download_header_is_plain_ascii_and_safe(name: str) -> None:
    header = attachment(name)
    assert header.isascii()
    assert header.isprintable()
    plain, extended = header.removeprefix('attachment; filename="').split("\"; filename*=UTF-8''")
    assert not set(plain) & set('"\\%')
    assert unquote(extended) == name
