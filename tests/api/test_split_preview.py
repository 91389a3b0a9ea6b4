"""The preview cuts as an upload would, and writes nothing."""

from __future__ import annotations

import json

from tests.api.conftest import Api, problem

MARKDOWN = "# 退款\n\n七天内可退。凭发票办理。\n\n# 换货\n\n十五天内可换。\n"


async def test_a_text_is_cut_as_an_upload_is(api: Api) -> None:
    shown = (await api.http.post("/v1/split/preview", json={"text": MARKDOWN})).json()
    document = await api.put("政策.md", MARKDOWN)
    stored = (await api.http.get(f"/v1/documents/{document}/chunks")).json()
    for kind in ("parents", "children"):
        assert [(c["start"], c["end"], c["content"]) for c in shown[kind]] == [
            (c["start"], c["end"], c["content"]) for c in stored[kind]
        ]
        assert all(MARKDOWN[c["start"] : c["end"]] == c["content"] for c in shown[kind])
    assert [parent["heading_path"] for parent in shown["parents"]] == [["退款"], ["换货"]]


async def test_a_file_with_settings_is_cut_and_not_stored(api: Api) -> None:
    settings = json.dumps({"strategy": "sentence", "child_size": 8, "sentence_hard_limit": "none"})
    answer = await api.http.post(
        "/v1/split/preview", files={"file": ("说明.txt", "第一句话。第二句话！第三句。")}, data={"settings": settings}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["strategy"] == "sentence"
    assert [child["content"] for child in answer.json()["children"]] == ["第一句话。", "第二句话！", "第三句。"]
    assert await api.total() == 0
    assert api.originals() == api.uploads_under_way() == []


async def test_bad_requests_name_the_place(api: Api) -> None:
    for body, code, start in [
        ({}, "invalid_request", "text: "),
        ({"text": "a", "other": 1}, "invalid_request", "other: "),
        ({"text": "a", "settings": {"tokenizer_file": "/etc/passwd"}}, "invalid_request", "settings.tokenizer_file: "),
        ({"text": "a", "settings": {"child_size": 900}}, "invalid_settings", "child_size (900) must not exceed"),
        ({"text": "a", "settings": {"child_size": 0}}, "invalid_settings", "child_size: "),
    ]:
        answer = await api.http.post("/v1/split/preview", json=body)
        assert answer.status_code == 422, answer.text
        assert problem(answer)["code"] == code
        assert problem(answer)["message"].startswith(start)
    assert (await api.http.post("/v1/split/preview", content=b"\xff")).status_code == 422
