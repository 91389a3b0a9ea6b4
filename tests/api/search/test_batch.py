"""POST /v1/search/batch: one outcome per query, whatever the others do."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.api.search.request import SearchBody
from tests.api.conftest import Api, problem
from tests.fakes.hash_embedder import HashEmbedder

BATCH = "/v1/search/batch"


async def batch(api: Api, queries: Any, **defaults: Any) -> httpx.Response:
    return await api.http.post(BATCH, json={"queries": queries, "defaults": defaults})


async def test_each_query_is_answered_as_if_it_were_alone_and_in_its_place(api: Api, embedder: HashEmbedder) -> None:
    for name, text in (
        ("甲.txt", "更换滤芯前先切断电源。"),
        ("乙.txt", "保修期为三年。"),
        ("丙.txt", "滤芯的保修期。"),
    ):
        await api.put(name, text)
    queries = ["滤芯", {"query": "保修期", "top_n": 1, "explain": True}, "滤芯", {"query": "电源", "vector_weight": 0}]
    embedder.calls.clear()
    response = await batch(api, queries, top_n=2)
    assert response.status_code == 200, response.text
    assert embedder.calls[0] == ("queries", 2)  # the two texts whose vector is needed, once each
    outcomes = response.json()["outcomes"]
    assert [outcome["error"] for outcome in outcomes] == [None] * 4
    for query, outcome in zip(queries, outcomes, strict=True):
        own = {"query": query} if isinstance(query, str) else query
        alone = (await api.http.post("/v1/search", json={"top_n": 2, **own})).json()
        assert outcome["answer"]["passages"] == alone["passages"]
        assert (outcome["answer"]["explanation"] is None) == (alone["explanation"] is None)
    assert [len(outcome["answer"]["passages"]) for outcome in outcomes] == [2, 1, 2, 1]


async def test_a_query_that_cannot_be_answered_does_not_disturb_the_others(api: Api) -> None:
    await api.put("甲.txt", "保修期为三年。")
    queries = [
        "保修期",
        "   ",
        {"query": "保修期", "top_n": 0},
        {"top_n": 3},
        7,
        {"query": "保修期", "collections": ["没有"]},
        {"query": "保修期", "filters": {"metadata": {"a": {"$regex": "x"}}}},
        {"query": "长" * 5001},
        {"query": "保修期", "vector_weight": 0, "fts_weight": 0},
        "保修\0期",
        {"query": "保修期", "细\ud800节": 1},
        "三年",
    ]
    content = json.dumps({"queries": queries}).encode()
    response = await api.http.post(BATCH, content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 200, response.text
    outcomes = response.json()["outcomes"]
    codes = [outcome["error"] and outcome["error"]["code"] for outcome in outcomes]
    invalid = "invalid_request"
    assert codes == [
        None, "invalid_input", invalid, invalid, invalid, "collection_not_found", "invalid_filter", invalid,
        "invalid_input", invalid, invalid, None,
    ]  # fmt: skip
    assert "top_n" in outcomes[2]["error"]["message"]
    assert all((outcome["answer"] is None) == (outcome["error"] is not None) for outcome in outcomes)
    assert [len(outcomes[place]["answer"]["passages"]) for place in (0, 11)] == [1, 1]


async def test_a_database_that_fails_for_one_query_is_told_in_its_place(api: Api) -> None:
    """A lost leg is a warning within an answer, as in a search alone."""
    await api.put("甲.txt", "保修期为三年。")
    async with api.services.engine.begin() as connection:
        await connection.exec_driver_sql("drop index rag.child_chunk_bm25")
    outcomes = (await batch(api, ["保修期", {"query": "保修期", "vector_weight": 0}])).json()["outcomes"]
    assert [warning["code"] for warning in outcomes[0]["answer"]["warnings"]] == ["fts_unavailable"]
    assert outcomes[1]["error"]["code"] == "internal_error"
    assert "bm25" not in outcomes[1]["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        ({"queries": []}, 422, "invalid_request", "queries"),
        ({"queries": ["水"] * 101}, 422, "invalid_request", "100"),
        ({"queries": "水"}, 422, "invalid_request", "queries"),
        ({}, 422, "invalid_request", "queries"),
        ({"queries": ["水"], "top_n": 3}, 422, "invalid_request", "top_n"),
        ({"queries": ["水"], "defaults": {"top_n": 0}}, 422, "invalid_request", "defaults.top_n"),
        ({"queries": ["水"], "defaults": {"topN": 3}}, 422, "invalid_request", "defaults.topN"),
        ({"queries": ["水"], "defaults": {"query": "火"}}, 422, "invalid_request", "defaults.query"),
        ({"queries": ["水"] * 11, "defaults": {"candidates": 1000}}, 413, "too_large", "10000"),
        ({"queries": ["水" * 400_000]}, 413, "too_large", "1 MB"),
    ],
)
async def test_a_batch_that_is_wrong_as_a_whole_is_refused(
    refusing_api: Api, body: dict[str, Any], status: int, code: str, words: str
) -> None:
    response = await refusing_api.http.post(BATCH, json=body)
    error = problem(response)
    assert (response.status_code, error["code"]) == (status, code)
    assert words in error["message"]


async def test_its_example_is_answered_and_its_errors_are_described(refusing_api: Api) -> None:
    document = (await refusing_api.http.get("/openapi.json")).json()
    operation = document["paths"][BATCH]["post"]
    assert operation["responses"].keys() == {"200", "413", "422", "default"}
    for example in document["components"]["schemas"]["BatchBody"]["examples"]:
        response = await refusing_api.http.post(BATCH, json=example)
        assert response.status_code == 200
        assert [outcome["error"] for outcome in response.json()["outcomes"]] == [None] * len(example["queries"])


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
_FIELDS = st.dictionaries(
    st.sampled_from([*SearchBody.model_fields]),
    _ANYTHING | st.integers(0, 9) | st.just({}),
    max_size=4,
)
_BODIES = st.fixed_dictionaries(
    {"queries": st.lists(st.text(st.characters(), max_size=8) | _FIELDS | _ANYTHING, max_size=3) | _ANYTHING},
    optional={"defaults": _FIELDS | _ANYTHING},
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=_BODIES)
async def test_any_batch_has_a_status_that_is_described(refusing_api: Api, body: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    response = await refusing_api.http.post(BATCH, content=json.dumps(body).encode(), headers=headers)
    assert response.status_code in {200, 413, 422}, response.text
    if response.status_code == 200:
        outcomes = response.json()["outcomes"]
        assert len(outcomes) == len(body["queries"])
        assert all(outcome["error"] is None or outcome["error"]["code"] != "internal_error" for outcome in outcomes)
