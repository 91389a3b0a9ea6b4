"""A key for some collections sees no trace of the others: they look as if they were not there."""

from __future__ import annotations

import re
from uuid import uuid4

import httpx
import pytest

from tests.api.access.conftest import HIDDEN, OPEN, OPEN_TEXT, Keyed
from tests.api.access.routes import api_routes
from tests.api.conftest import problem

ABSENT = "不存在"
PARAMETERS = {"document_id", "job_id", "name", "chunk_id", "key_id"}
"""What paths name. A new one needs a hidden value below, or has to be about no collection, as keys are."""

BODIES = {("PUT", "/v1/collections/{name}"): {"settings": {"top_n": 3}}}


def _filled(path: str, **values: str) -> str:
    return re.sub(r"\{(\w+)[^}]*\}", lambda found: values.get(found[1], str(uuid4())), path)


def _without_names(response: httpx.Response, *names: str) -> str:
    text = response.text
    for name in (*names, response.headers["X-Request-ID"]):
        text = text.replace(name, "…")
    return text


async def test_what_is_hidden_answers_as_what_is_not_there(keyed: Keyed) -> None:
    chunks = (await keyed.read.get(f"/v1/documents/{keyed.hidden_document}/chunks")).json()
    absent = {"document_id": str(uuid4()), "job_id": str(uuid4()), "name": ABSENT, "chunk_id": str(uuid4())}
    hidden = {
        "document_id": keyed.hidden_document,
        "job_id": keyed.hidden_job,
        "name": HIDDEN,
        "chunk_id": chunks["parents"][0]["chunk_id"],
    }
    looked = set()
    for route in api_routes(keyed.api.app):
        named = set(re.findall(r"\{(\w+)", route.path))
        assert named <= PARAMETERS, f"{route.path}: see PARAMETERS"
        if not named & hidden.keys():
            continue
        for method in route.methods:
            body = BODIES.get((method, route.path))
            answers = [
                await keyed.tenant_admin.request(method, _filled(route.path, **values), json=body)
                for values in (hidden, absent)
            ]
            of_hidden, of_absent = (
                (answer.status_code, _without_names(answer, *values.values()))
                for answer, values in zip(answers, (hidden, absent), strict=True)
            )
            assert of_hidden == of_absent, (method, route.path)
            assert answers[0].status_code >= 400, (method, route.path)
            looked.add(f"{method} {route.path}")
    assert {
        "GET /v1/documents/{document_id}",
        "DELETE /v1/documents/{document_id}",
        "GET /v1/documents/{document_id}/text",
        "GET /v1/documents/{document_id}/chunks",
        "GET /v1/documents/{document_id}/original",
        "HEAD /v1/documents/{document_id}/original",
        "GET /v1/jobs/{job_id}",
        "GET /v1/jobs/{job_id}/events",
        "POST /v1/jobs/{job_id}/cancel",
        "POST /v1/jobs/{job_id}/retry",
        "GET /v1/passages/{chunk_id}",
        "GET /v1/collections/{name}",
        "PUT /v1/collections/{name}",
        "POST /v1/collections/{name}/resplit",
    } <= looked
    assert (await keyed.read.get(f"/v1/documents/{keyed.hidden_document}")).status_code == 200, "nothing was deleted"


async def test_no_page_and_no_list_names_what_is_hidden(keyed: Keyed) -> None:
    secrets = (HIDDEN, "蓝鲸", "并购", keyed.hidden_document, keyed.hidden_job)
    for route in api_routes(keyed.api.app):
        if "GET" not in route.methods or "{" in route.path or route.path in {"/metrics", "/readyz"}:
            continue
        for query in ("", f"?collection={OPEN}"):
            response = await keyed.tenant_admin.get(route.path + query)
            assert not [secret for secret in secrets if secret in response.text], route.path
    for path in ("/v1/documents", "/v1/jobs"):
        listed = (await keyed.tenant_read.get(path)).json()
        assert listed["total"] == 1
        assert (await keyed.tenant_read.get(path, params={"collection": HIDDEN})).json()["total"] == 0
        assert (await keyed.read.get(path)).json()["total"] == 2
    names = [one["name"] for one in (await keyed.tenant_read.get("/v1/collections")).json()["collections"]]
    assert names == [OPEN]


@pytest.mark.parametrize("filters", [{}, {"media_types": ["text/markdown"]}, {"sources": ["并购.md", "报销.md"]}])
async def test_searches_find_only_what_may_be_seen(keyed: Keyed, filters: dict[str, object]) -> None:
    for query in ("收购计划的代号是蓝鲸", "差旅住宿"):
        body = {"query": query, "filters": filters, "explain": True}
        response = await keyed.tenant_read.post("/v1/search", json=body)
        found = response.json()["passages"]
        assert {passage["collection"] for passage in found} == {OPEN}
        assert HIDDEN not in response.text
        assert response.json()["completeness"]["eligible_chunks"] == 1
        batch = (await keyed.tenant_read.post("/v1/search/batch", json={"queries": [body]})).json()["outcomes"][0]
        assert batch["answer"]["passages"] == found
    everywhere = (await keyed.read.post("/v1/search", json={"query": "收购计划的代号是蓝鲸"})).json()["passages"]
    assert everywhere[0]["collection"] == HIDDEN
    ids = {"document_ids": [keyed.hidden_document]}
    of_hidden = await keyed.tenant_read.post("/v1/search", json={"query": "蓝鲸", "filters": ids})
    assert of_hidden.json()["passages"] == []
    answered = await keyed.tenant_read.post("/v1/answer", json={"question": "收购计划的代号是什么", "stream": False})
    assert answered.status_code == 200
    assert not [secret for secret in (HIDDEN, keyed.hidden_document, "是蓝鲸") if secret in answered.text]


@pytest.mark.parametrize("path", ["/v1/search", "/v1/answer"])
async def test_naming_a_hidden_collection_is_naming_none(keyed: Keyed, path: str) -> None:
    answers = []
    for name in (HIDDEN, ABSENT):
        scope: dict[str, object] = {"collections": [OPEN, name]}
        body = {"query": "蓝鲸", **scope} if path == "/v1/search" else {"question": "蓝鲸", "search": scope}
        response = await keyed.tenant_read.post(path, json=body)
        answers.append((response.status_code, _without_names(response, name)))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    both = await keyed.tenant_read.post("/v1/search", json={"query": "蓝鲸", "collections": [HIDDEN, ABSENT]})
    assert problem(both)["details"] == {"missing": sorted([HIDDEN, ABSENT])}


async def test_uploads_into_a_hidden_collection_and_into_a_new_one_are_refused_alike(keyed: Keyed) -> None:
    for name in (HIDDEN, ABSENT, "default"):
        response = await keyed.tenant_write.post(
            "/v1/documents", files={"file": ("并购.md", "改写".encode())}, data={"collection": name}
        )
        assert (response.status_code, problem(response)["code"]) == (404, "collection_not_found")
        assert problem(response)["message"] == f"there is no collection {name!r}"
    preview = {"text": "一。"}
    assert (await keyed.tenant_read.post(f"/v1/split/preview?collection={HIDDEN}", json=preview)).status_code == 404
    names = [one["name"] for one in (await keyed.read.get("/v1/collections")).json()["collections"]]
    assert sorted(names) == sorted([OPEN, HIDDEN])
    again = await keyed.tenant_write.post(
        "/v1/documents?wait=true", files={"file": ("报销.md", OPEN_TEXT.encode())}, data={"collection": OPEN}
    )
    assert again.json()["outcome"] == "unchanged"


async def test_what_is_about_all_collections_is_for_keys_that_see_all(keyed: Keyed) -> None:
    for path in ("/metrics", "/v1/keys"):
        refused = await keyed.tenant_admin.get(path)
        assert (refused.status_code, problem(refused)["code"]) == (403, "scope_missing")
        assert (await keyed.admin.get(path)).status_code == 200
    refused = await keyed.tenant_admin.post("/v1/keys", json={"name": "mine", "scopes": ["admin"]})
    assert refused.status_code == 403
