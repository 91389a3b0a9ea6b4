"""Collections over HTTP: listed, looked at, changed; what cannot hold is refused and changes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.api.conftest import Api, problem

GOOD = {"top_n": 1, "synonyms": [{"words": ["手机", "移动电话"], "of": []}], "ignore_words": ["公司"]}


async def put(api: Api, name: str, settings: Any) -> dict[str, Any]:
    answer = await api.http.put(f"/v1/collections/{name}", json={"settings": settings})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_settings_are_kept_replaced_and_used(api: Api) -> None:
    await api.put("a.md", "移动电话的保修期为一年。", collection="手册")
    await api.put("b.md", "公司食堂的开放时间。", collection="手册")
    made = await put(api, "手册", GOOD)
    assert (made["name"], made["document_count"]) == ("手册", 2)
    assert made["settings"]["top_n"] == 1
    assert made["settings"]["ignore_words"] == ["公司"]
    assert (await api.http.get("/v1/collections/手册")).json() == made
    assert await api.found("公司手机", collections=["手册"], vector_weight=0) == ["移动电话的保修期为一年。"]

    empty = await put(api, "another", {})
    listed = (await api.http.get("/v1/collections")).json()
    assert listed == {"collections": [empty, made]}
    replaced = await put(api, "手册", {"rrf_k": 7})
    assert replaced["settings"] == {"rrf_k": 7}
    assert await api.found("公司手机", collections=["手册"], vector_weight=0) == ["公司食堂的开放时间。"]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"top_k": 5}, "top_k"),
        ({"child_size": 0}, "child_size"),
        ({"strategy": "clever"}, "strategy"),
        ({"sentence_hard_limit": "never"}, "sentence_hard_limit"),
        ({"reflow": "no"}, "reflow"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": 5.5}, "top_n"),
        ({"vector_weight": 0, "fts_weight": 0}, "no leg would run"),
        ({"fts_weight": -1}, "fts_weight"),
        ({"fts_weight": True}, "fts_weight"),
        ({"vector_weight": "50"}, "vector_weight"),
        ({"min_vector_similarity": False}, "min_vector_similarity"),
        ({"min_vector_similarity": 1.5}, "min_vector_similarity"),
        ({"synonyms": [{"words": ["手机"]}]}, "two words"),
        ({"synonyms": [{"words": ["甲", "乙"]}] * 1001}, "synonyms"),
        ({"synonyms": [{"words": [f"词{n}" for n in range(51)]}]}, "words"),
        ({"synonyms": [{"words": ["甲", "乙"], "off": ["丙"]}]}, "off"),
        ({"ignore_words": ["词"] * 1001}, "ignore_words"),
        ({"ignore_words": [" "]}, "ignore_words"),
        ({"ignore_words": ["a\0b"]}, "ignore_words"),
        ([], "settings"),
    ],
)
async def test_what_cannot_hold_is_refused(refusing_api: Api, settings: Any, named: str) -> None:
    answer = await refusing_api.http.put("/v1/collections/new", json={"settings": settings})
    error = problem(answer)
    assert (answer.status_code, error["code"]) == (422, "invalid_request"), error
    assert named in str(error["message"]) + str(error["details"])
    assert (await refusing_api.http.get("/v1/collections")).json() == {"collections": []}


async def test_documents_cut_with_other_settings_are_counted_and_cut_anew(api: Api) -> None:
    text = "先切断电源。再打开外壳。最后更换滤芯。" * 20
    await api.put("a.md", text, collection="手册")
    made = await put(api, "手册", {"child_size": 50, "heading_context": False, "sentence_hard_limit": "none"})
    assert made["settings"] == {"child_size": 50, "heading_context": False, "sentence_hard_limit": "none"}
    assert (made["outdated_count"], made["outdated_queued_count"]) == (1, 0)
    preview = await api.http.post("/v1/split/preview", params={"collection": "手册"}, json={"text": text})
    lengths = [len(child["content"]) for child in preview.json()["children"]]
    assert max(lengths) <= 50

    queued = await api.http.post("/v1/collections/手册/resplit")
    assert (queued.status_code, queued.json()) == (202, {"queued_count": 1, "left_count": 0})
    for _ in range(100):
        looked = (await api.http.get("/v1/collections/手册")).json()
        if looked["outdated_count"] == 0:
            break
        await asyncio.sleep(0.1)
    assert (looked["outdated_count"], looked["outdated_queued_count"], looked["document_count"]) == (0, 0, 1)
    (document,) = (await api.http.get("/v1/documents")).json()["documents"]
    assert document["child_count"] == len(lengths)
    unchanged = await put(api, "手册", {**made["settings"], "top_n": 3})
    assert unchanged["outdated_count"] == 0


async def test_a_preview_cuts_where_the_subject_changes_as_an_upload_does(api: Api) -> None:
    await put(api, "手册", {"strategy": "sentence", "soft_cut": True, "child_size": 60})
    text = "先切断电源。再打开外壳。最后更换滤芯。食堂七点开门。早餐有豆浆。" * 4
    preview = await api.http.post("/v1/split/preview", params={"collection": "手册"}, json={"text": text})
    assert preview.status_code == 200, preview.text
    document = await api.put("a.md", text, collection="手册")
    chunks = (await api.http.get(f"/v1/documents/{document}/chunks")).json()
    for kind in ("parents", "children"):
        assert [each["content"] for each in preview.json()[kind]] == [each["content"] for each in chunks[kind]]
    long = await api.http.post("/v1/split/preview", params={"collection": "手册"}, json={"text": "甲。" * 10_001})
    assert (long.status_code, problem(long)["code"]) == (413, "too_large")


@pytest.mark.parametrize("settings", [{"child_size": 801}, {"parent_overlap": 800}, {"soft_tokens": 601}])
async def test_what_cannot_hold_with_the_settings_of_the_service_is_refused(
    refusing_api: Api, settings: dict[str, int]
) -> None:
    answer = await refusing_api.http.put("/v1/collections/new", json={"settings": settings})
    error = problem(answer)
    assert (answer.status_code, error["code"]) == (422, "invalid_settings"), error
    assert next(iter(settings)) in str(error["message"])
    assert (await refusing_api.http.get("/v1/collections")).json() == {"collections": []}


@pytest.mark.parametrize("path", ["/v1/collections/没有/resplit", "/v1/split/preview?collection=没有"])
async def test_what_needs_a_collection_says_that_it_is_not_there(refusing_api: Api, path: str) -> None:
    answer = await refusing_api.http.post(path, json={"text": "甲。"} if "preview" in path else None)
    assert (answer.status_code, problem(answer)["code"]) == (404, "collection_not_found")


@pytest.mark.parametrize("name", ["a%00b", "x" * 201, "%20", "-a", "a%2Fb", "*"])
async def test_names_that_are_none_are_refused(refusing_api: Api, name: str) -> None:
    answer = await refusing_api.http.put(f"/v1/collections/{name}", json={"settings": {}})
    assert answer.status_code in {404, 422}, answer.text
    problem(answer)
    looked = await refusing_api.http.get(f"/v1/collections/{name}")
    assert looked.status_code in {404, 422}
    assert (await refusing_api.http.get("/v1/collections")).json() == {"collections": []}


async def test_a_lone_surrogate_is_refused(refusing_api: Api) -> None:
    body = b'{"settings": {"ignore_words": ["\\ud800"]}}'
    answer = await refusing_api.http.put(
        "/v1/collections/new", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422, answer.text


async def test_a_collection_that_is_not_there(refusing_api: Api) -> None:
    answer = await refusing_api.http.get("/v1/collections/没有")
    assert answer.status_code == 404
    assert problem(answer)["code"] == "collection_not_found"
