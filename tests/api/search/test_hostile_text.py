"""Text that breaks careless services: NUL, lone surrogates, NaN, deep nesting, and whatever hypothesis thinks of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.conftest import Api, problem

SURROGATE, NUL = "\\ud800", "\\u0000"
JSON = {"Content-Type": "application/json"}


def bodies(escape: str) -> dict[str, str]:
    """Raw JSON bodies with an escape in every place that takes a text."""
    return {
        "query": f'{{"query": "水{escape}"}}',
        "unknown field": f'{{"query": "水", "a{escape}": 1}}',
        "collection": f'{{"query": "水", "collections": ["a{escape}"]}}',
        "source": f'{{"query": "水", "filters": {{"sources": ["a{escape}"]}}}}',
        "media type": f'{{"query": "水", "filters": {{"media_types": ["a{escape}"]}}}}',
        "document id": f'{{"query": "水", "filters": {{"document_ids": ["a{escape}"]}}}}',
        "time": f'{{"query": "水", "filters": {{"created_from": "2024{escape}"}}}}',
        "unknown filter": f'{{"query": "水", "filters": {{"a{escape}": 1}}}}',
        "metadata value": f'{{"query": "水", "filters": {{"metadata": {{"a": "b{escape}"}}}}}}',
        "metadata key": f'{{"query": "水", "filters": {{"metadata": {{"a{escape}": "b"}}}}}}',
        "metadata operator": f'{{"query": "水", "filters": {{"metadata": {{"a": {{"$gte{escape}": 1}}}}}}}}',
        "nested value": f'{{"query": "水", "filters": {{"metadata": {{"$or": [{{"a": {{"$in": ["{escape}"]}}}}]}}}}}}',
    }


@pytest.mark.parametrize("escape", [SURROGATE, NUL], ids=["surrogate", "NUL"])
@pytest.mark.parametrize("place", bodies(""))
async def test_a_search_with_it_is_refused(refusing_api: Api, escape: str, place: str) -> None:
    response = await refusing_api.http.post("/v1/search", content=bodies(escape)[place].encode(), headers=JSON)
    assert response.status_code == 422, response.text
    assert problem(response)["code"] in {"invalid_request", "invalid_filter", "invalid_input"}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b'{"query": "a"',
        b'{"query": NaN}',
        b'{"query": "a", "vector_weight": NaN}',
        b'{"query": "a", "fts_weight": Infinity}',
        b'{"query": "a", "rrf_k": 1e400}',
        b'{"query": "a", "top_n": ' + b"9" * 5000 + b"}",
        b'{"query": "a", "filters": {"metadata": {"a": NaN}}}',
        b'{"query": "a", "filters": {"metadata": {"a": 1e400}}}',
        b'{"query": "a", "filters": {"metadata": {"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}}",
        b'{"query": "\xff\xfe"}',
        b"\xff",
    ],
    ids=range(16),
)
async def test_a_body_that_is_no_search_is_refused(refusing_api: Api, raw: bytes) -> None:
    response = await refusing_api.http.post("/v1/search", content=raw, headers=JSON)
    assert response.status_code == 422, response.text
    assert problem(response)["code"] in {"invalid_request", "invalid_filter"}


async def test_a_search_that_is_not_sent_as_json_is_told_so(refusing_api: Api) -> None:
    for content_type in ("", "text/plain", "application/x-www-form-urlencoded"):
        body = '{"query": "水"}'.encode()
        response = await refusing_api.http.post("/v1/search", content=body, headers={"Content-Type": content_type})
        assert response.status_code == 422
        assert "Content-Type: application/json" in problem(response)["message"]


async def test_what_the_caller_sent_is_not_repeated(refusing_api: Api) -> None:
    response = await refusing_api.search("水", top_n="geheim" * 1000)
    assert "geheim" not in response.text
    response = await refusing_api.http.post(
        "/v1/search", json={"query": "水", **{f"feld{n}" * 200: 1 for n in range(200)}}
    )
    assert response.status_code == 422
    assert len(response.content) < 50_000


@pytest.mark.parametrize("query", ["source=a%00b", "collection=%00", "source=%ED%A0%80", "source=%FF"])
async def test_query_strings(refusing_api: Api, query: str) -> None:
    response = await refusing_api.http.get(f"/v1/documents?{query}")
    assert response.status_code in {200, 422}
    assert "%00" not in query or response.status_code == 422


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(), min_size=1, max_size=60), keyword_only=st.booleans())
async def test_any_query_is_answered_or_refused(refusing_api: Api, query: str, keyword_only: bool) -> None:
    body = json.dumps({"query": query} | ({"vector_weight": 0} if keyword_only else {}))
    response = await refusing_api.http.post("/v1/search", content=body.encode(), headers=JSON)
    storable = "\0" not in query and not any("\ud800" <= c <= "\udfff" for c in query)
    assert response.status_code == (200 if storable and query.strip() else 422), response.text


FILTER_KEYS = ["a", "a.b", "$gt", "$in", "$or", "$not", "$exists", "$contains"]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "a.b", "$gt", "$in", "$or", "$not", "$exists", "$contains"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filter_=JSON_VALUES)
async def test_any_filter_is_answered_or_refused(refusing_api: Api, filter_: Any) -> None:
    body = json.dumps({"query": "水", "filters": {"metadata": filter_}})
    response = await refusing_api.http.post("/v1/search", content=body.encode(), headers=JSON)
    assert response.status_code in {200, 422}, response.text
