"""GET /v1/documents: pages, filters and bounds."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tests.api.conftest import Api, problem
from tests.cases import case


@pytest.mark.case("BR-072")
async def test_pages_neither_overlap_nor_miscount(api: Api) -> None:
    """BR-072"""
    given = case("BR-072").input
    for number in range(given["documents"]):
        await api.put(f"{number}.txt", f"第 {number} 份。")
    async with api.services.engine.begin() as connection:
        await connection.execute(text("update rag.document set created_at = now(), updated_at = now()"))
    seen: list[str] = []
    sizes = []
    for offset in (0, 10, 20, 30):
        page = (await api.http.get("/v1/documents", params={"limit": given["limit"], "offset": offset})).json()
        assert (page["total"], page["limit"], page["offset"]) == (25, 10, offset)
        sizes.append(len(page["documents"]))
        seen += [document["document_id"] for document in page["documents"]]
    assert sizes == [10, 10, 5, 0]
    assert len(set(seen)) == 25
    await api.http.delete(f"/v1/documents/{seen[0]}")
    assert await api.total() == 24


async def test_filters_of_the_list(api: Api, shared: object) -> None:
    await api.put("制度/考勤.md", "每天九点上班。", collection="人事")
    await api.put("制度/报销.md", "三十天内报销。", collection="财务")
    await api.put("100%_手册.txt", "说明。", collection="财务")
    failed = await api.upload("坏.docx", b"PK\x03\x04 broken", collection="财务")
    assert failed.status_code == 422

    async def sources(**query: str) -> list[str]:
        answer = (await api.http.get("/v1/documents", params=query)).json()
        assert answer["total"] == len(answer["documents"])
        return [document["source"] for document in answer["documents"]]

    assert await sources() == ["坏.docx", "100%_手册.txt", "制度/报销.md", "制度/考勤.md"]
    assert await sources(collection="财务") == ["坏.docx", "100%_手册.txt", "制度/报销.md"]
    assert await sources(collection="没有") == []
    assert await sources(status="failed") == ["坏.docx"]
    assert await sources(source="制度/") == ["制度/报销.md", "制度/考勤.md"]
    assert await sources(source="%_") == ["100%_手册.txt"]
    assert await sources(source="报销", collection="财务", status="ready") == ["制度/报销.md"]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=100000", "limit=x", "offset=-1", "offset=9999999999", "status=done", "colection=a"],
)
async def test_a_wrong_list_is_refused(refusing_api: Api, query: str) -> None:
    """BR-072"""
    response = await refusing_api.http.get(f"/v1/documents?{query}")
    error = problem(response)
    assert (response.status_code, error["code"]) == (422, "invalid_request")
    assert [place["place"] for place in error["details"]["problems"]] == [query.split("=", maxsplit=1)[0]]


async def test_the_bounds_themselves_are_allowed(refusing_api: Api) -> None:
    for query in ("limit=1", "limit=200", "offset=2147483647"):
        assert (await refusing_api.http.get(f"/v1/documents?{query}")).status_code == 200
