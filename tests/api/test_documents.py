"""Documents over HTTP: upload, list, look at, delete."""

from __future__ import annotations

from service.types import IngestOutcome
from tests.api.conftest import Api

MANUAL = (
    "# 水泵手册\n\n设备每三个月保养一次。保养前请先切断电源。\n\n## 滤芯\n\n更换滤芯时，请使用型号 AX-200B 的滤芯。\n"
)


async def test_an_upload_is_found_and_describes_itself(api: Api) -> None:
    response = await api.upload("水泵.md", MANUAL, source="手册/水泵.md", metadata='{"部门": "设备"}', title="水泵手册")
    assert response.status_code == 201
    body = response.json()
    assert body["source"] == "手册/水泵.md"
    assert (body["collection"], body["outcome"], body["status"]) == ("default", IngestOutcome.CREATED, "ready")
    assert body["child_count"] >= body["parent_count"] >= 1
    assert (body["warnings"], body["duplicate_of"]) == ([], None)
    assert body["timings_ms"].keys() == {"extract_ms", "split_ms", "embed_ms", "store_ms", "total_ms"}
    assert response.headers["Location"] == f"/v1/documents/{body['document_id']}"

    document = (await api.http.get(response.headers["Location"])).json()
    assert document["document_id"] == body["document_id"]
    assert (document["file_name"], document["title"], document["metadata"]) == ("水泵.md", "水泵手册", {"部门": "设备"})
    assert document["size_bytes"] == len(MANUAL.encode())
    assert (document["parent_count"], document["child_count"]) == (body["parent_count"], body["child_count"])
    assert document["error_code"] is None
    assert any("AX-200B" in content for content in await api.found("AX-200B 滤芯"))
    assert api.uploads_under_way() == []
