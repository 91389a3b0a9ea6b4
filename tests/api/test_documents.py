"""Documents over HTTP: upload, look at, read, delete."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.api.conftest import Api, problem

MANUAL = (
    "# 水泵手册\n\n设备每三个月保养一次。保养前请先切断电源。\n\n## 滤芯\n\n更换滤芯时，请使用型号 AX-200B 的滤芯。\n"
)


async def test_an_upload_is_found_and_describes_itself(api: Api) -> None:
    response = await api.upload("水泵.md", MANUAL, source="手册/水泵.md", metadata='{"部门": "设备"}', title="水泵手册")
    assert response.status_code == 201
    body = response.json()
    assert body["source"] == "手册/水泵.md"
    assert (body["collection"], body["outcome"], body["status"]) == ("default", "created", "ready")
    assert body["child_count"] >= body["parent_count"] >= 1
    assert (body["warnings"], body["duplicate_of"]) == ([], None)
    assert body["timings_ms"].keys() >= {"fetch_ms", "extract_ms", "split_ms", "embed_ms", "total_ms"}
    assert (body["embedded_count"], body["reused_count"]) == (body["child_count"], 0)
    assert response.headers["Location"] == f"/v1/documents/{body['document_id']}"

    document = (await api.http.get(response.headers["Location"])).json()
    assert document["document_id"] == body["document_id"]
    assert (document["file_name"], document["title"]) == ("水泵.md", "水泵手册")
    assert document["metadata"] == {"部门": "设备"}
    assert (document["size_bytes"], document["sha256"]) == (
        len(MANUAL.encode()),
        hashlib.sha256(MANUAL.encode()).hexdigest(),
    )
    assert (document["parent_count"], document["child_count"]) == (body["parent_count"], body["child_count"])
    assert document["error_code"] is None
    assert any("AX-200B" in content for content in await api.found("AX-200B 滤芯"))
    assert api.uploads_under_way() == []


@pytest.mark.case("BR-034")
async def test_outcomes_and_their_status(api: Api) -> None:
    """BR-034 (the flow's tests count embedding calls)."""
    first = await api.upload("a.md", "第一步。第二步。")
    again = await api.upload("a.md", "第一步。第二步。")
    described = await api.upload("a.md", "第一步。第二步。", metadata='{"v": 2}')
    replaced = await api.upload("a.md", "第一步。第二步。第三步。")
    elsewhere = await api.upload("b.md", "第一步。第二步。第三步。")
    answers = [first, again, described, replaced, elsewhere]
    assert [answer.status_code for answer in answers] == [201, 200, 200, 201, 201]
    assert [answer.json()["outcome"] for answer in answers] == [
        "created",
        "unchanged",
        "updated",
        "replaced",
        "created",
    ]
    ids = [answer.json()["document_id"] for answer in answers]
    assert len(set(ids[:4])) == 1
    assert elsewhere.json()["duplicate_of"] == ids[0]
    assert again.json()["child_count"] == first.json()["child_count"]


@pytest.mark.parametrize(
    ("file_name", "code"),
    [
        ("pdf_encrypted.pdf", "encrypted"),
        ("docx_truncated.docx", "corrupt"),
        ("unsupported_program.bin", "unsupported"),
    ],
)
async def test_a_file_that_cannot_be_read_is_a_failed_document(
    api: Api, shared: Path, file_name: str, code: str
) -> None:
    response = await api.upload(file_name, (shared / "data/documents" / file_name).read_bytes())
    assert response.status_code == 422
    error = problem(response)
    assert (error["code"], error["retryable"]) == (code, False)
    document_id = error["details"]["document_id"]

    document = (await api.http.get(f"/v1/documents/{document_id}")).json()
    assert (document["status"], document["error_code"], document["error_message"]) == ("failed", code, error["message"])
    text = await api.http.get(f"/v1/documents/{document_id}/text")
    assert (text.status_code, problem(text)["details"]["status"]) == (404, "failed")
    chunks = (await api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert (chunks["parents"], chunks["children"]) == ([], [])
    original = await api.http.get(f"/v1/documents/{document_id}/original")
    assert original.content == (shared / "data/documents" / file_name).read_bytes()
    assert (await api.http.delete(f"/v1/documents/{document_id}")).status_code == 204
    assert api.originals() == []


async def test_text_and_chunks_prove_each_other(api: Api) -> None:
    document_id = await api.put("水泵.md", MANUAL + "\n" + "保养记录要写日期和姓名。" * 150, metadata='{"年": 2024}')
    text = (await api.http.get(f"/v1/documents/{document_id}/text")).json()
    assert (text["document_id"], text["format"], text["metadata"]) == (document_id, "markdown", {"年": 2024})
    assert {block["type"] for block in text["blocks"]} >= {"heading", "paragraph"}
    assert text["extractor"]

    chunks = (await api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert chunks["document_id"] == document_id
    parents = {parent["chunk_id"]: parent for parent in chunks["parents"]}
    for kind in ("parents", "children"):
        assert [chunk["ordinal"] for chunk in chunks[kind]] == list(range(len(chunks[kind])))
        assert all(text["text"][chunk["start"] : chunk["end"]] == chunk["content"] for chunk in chunks[kind])
    assert len(chunks["children"]) > len(parents) > 1
    for child in chunks["children"]:
        parent = parents[child["parent_chunk_id"]]
        assert parent["ordinal"] == child["parent_ordinal"]
        assert parent["start"] <= child["start"] < child["end"] <= parent["end"]
        assert isinstance(parent["heading_path"], list)


async def test_pages_reach_the_answer(api: Api, shared: Path) -> None:
    content = (shared / "data/documents/pdf_two_columns.pdf").read_bytes()
    document_id = await api.put("columns.pdf", content)
    text = (await api.http.get(f"/v1/documents/{document_id}/text")).json()
    assert [page["number"] for page in text["pages"]] == list(range(1, len(text["pages"]) + 1))
    assert text["media_type"] == "application/pdf"
    chunks = (await api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert all(1 <= chunk["first_page"] <= chunk["last_page"] for chunk in chunks["parents"] + chunks["children"])

    def pages(span: dict[str, Any]) -> list[int]:
        return [p["number"] for p in text["pages"] if p["start"] < span["end"] and p["end"] > span["start"]]

    found = (await api.http.post("/v1/search", json={"query": "columns of the page", "top_n": 50})).json()
    hits = [hit for passage in found["passages"] for hit in passage["hits"]]
    assert len(hits) > 3
    assert all(hit["first_page"] == pages(hit)[0] and hit["last_page"] == pages(hit)[-1] for hit in hits)

    answer = (await api.http.post("/v1/answer", json={"question": "columns of the page", "stream": False})).json()
    assert answer["citations"]
    for cited in answer["citations"]:
        assert cited["first_page"] <= pages(cited)[0] <= pages(cited)[-1] <= cited["last_page"]


@pytest.mark.case("BR-037")
async def test_a_deleted_document_is_gone_everywhere(api: Api) -> None:
    """BR-037"""
    document_id = await api.put("合同.txt", "本合同自签字之日起生效。")
    kept = await api.put("其他.txt", "违约金为百分之五。")
    assert len(api.originals()) == 2
    response = await api.http.delete(f"/v1/documents/{document_id}")
    assert (response.status_code, response.content) == (204, b"")
    assert len(api.originals()) == 1
    for path in ("", "/text", "/chunks", "/original"):
        gone = await api.http.get(f"/v1/documents/{document_id}{path}")
        assert (gone.status_code, problem(gone)["code"]) == (404, "document_not_found")
    again = await api.http.delete(f"/v1/documents/{document_id}")
    assert (again.status_code, problem(again)["code"]) == (404, "document_not_found")
    assert await api.found("合同签字生效", vector_weight=0) == []
    assert (await api.http.get(f"/v1/documents/{kept}/original")).text == "违约金为百分之五。"


async def test_an_original_that_cannot_be_deleted_is_deleted_later(api: Api) -> None:
    document_id = await api.put("合同.txt", "本合同自签字之日起生效。")
    (original,) = api.originals()
    original.unlink()
    original.mkdir()  # an object store that refuses: a folder cannot be removed as a file
    assert (await api.http.delete(f"/v1/documents/{document_id}")).status_code == 204
    assert await api.total() == 0
    original.rmdir()
    original.write_text("there again")
    async with asyncio.timeout(30):
        while api.originals():
            await asyncio.sleep(0.05)


async def test_without_waiting_an_upload_is_accepted_and_its_job_tells_the_rest(api: Api) -> None:
    files = {"file": ("水泵.md", MANUAL)}
    accepted = await api.http.post("/v1/documents", files=files)
    body = accepted.json()
    assert (accepted.status_code, body.keys()) == (202, {"document_id", "job_id", "source", "collection"})
    assert accepted.headers["Location"] == f"/v1/documents/{body['document_id']}"
    assert api.uploads_under_way() == []
    assert len(api.originals()) == 1
    async with asyncio.timeout(60):
        while (await api.http.get(f"/v1/jobs/{body['job_id']}")).json()["status"] != "ready":
            await asyncio.sleep(0.05)
    assert any("AX-200B" in content for content in await api.found("AX-200B 滤芯"))
    again = await api.http.post("/v1/documents", files=files)
    assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")


async def test_an_unknown_or_malformed_id(api: Api) -> None:
    for path in ("", "/text", "/chunks", "/original"):
        unknown = await api.http.get(f"/v1/documents/{uuid4()}{path}")
        assert (unknown.status_code, problem(unknown)["code"]) == (404, "document_not_found")
        malformed = await api.http.get(f"/v1/documents/42{path}")
        assert (malformed.status_code, problem(malformed)["code"]) == (422, "invalid_request")
        assert problem(malformed)["details"]["problems"][0]["place"] == "document_id"
