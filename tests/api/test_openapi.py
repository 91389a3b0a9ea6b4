"""The OpenAPI document: complete, with examples that work, and with the bounds in force."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.app import create_app
from service.config import SearchSettings, Settings
from tests.api.conftest import Api, problem

ROUTES = {
    ("post", "/v1/documents"),
    ("get", "/v1/documents"),
    ("get", "/v1/documents/{document_id}"),
    ("delete", "/v1/documents/{document_id}"),
    ("get", "/v1/documents/{document_id}/text"),
    ("get", "/v1/documents/{document_id}/chunks"),
    ("get", "/v1/documents/{document_id}/original"),
    ("post", "/v1/search"),
    ("get", "/healthz"),
    ("get", "/readyz"),
}


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(method, path): value for path, methods in document["paths"].items() for method, value in methods.items()}


async def test_every_route_is_described_with_its_errors(refusing_api: Api) -> None:
    document = (await refusing_api.http.get("/openapi.json")).json()
    described = operations(document)
    assert described.keys() >= ROUTES
    for route, operation in described.items():
        assert operation["summary"], route
        assert operation["description"], route
        error = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert error == {"$ref": "#/components/schemas/ErrorAnswer"}
    assert "HTTPValidationError" not in document["components"]["schemas"]
    upload = described["post", "/v1/documents"]
    assert upload["requestBody"]["content"]["multipart/form-data"]["schema"]["required"] == ["file"]
    assert upload["responses"].keys() >= {"200", "201"}
    assert "content" not in described["delete", "/v1/documents/{document_id}"]["responses"]["204"]


async def test_every_reference_leads_somewhere(refusing_api: Api) -> None:
    document = (await refusing_api.http.get("/openapi.json")).json()
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}

    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    assert references(document) <= known


async def test_the_examples_of_a_search_are_answered(refusing_api: Api) -> None:
    document = (await refusing_api.http.get("/openapi.json")).json()
    examples = document["components"]["schemas"]["SearchBody"]["examples"]
    assert len(examples) >= 2
    for example in examples:
        response = await refusing_api.http.post("/v1/search", json=example)
        # the module's database is empty: it has no collection yet
        assert response.status_code == (404 if "collections" in example else 200), response.text


@pytest.mark.parametrize(("top_n", "most"), [(5, 100), (3, 7)])
def test_the_bounds_and_defaults_are_those_of_the_settings(top_n: int, most: int) -> None:
    search = SearchSettings(top_n=top_n, max_top_n=most, vector_weight=60, max_query_characters=99)
    document = create_app(Settings(_env_file=None, search=search)).openapi()
    fields = document["components"]["schemas"]["SearchBody"]["properties"]
    assert (fields["top_n"]["default"], fields["top_n"]["minimum"], fields["top_n"]["maximum"]) == (top_n, 1, most)
    assert (fields["vector_weight"]["default"], fields["query"]["maxLength"]) == (60, 99)
    assert document["components"]["schemas"]["SearchBody"]["required"] == ["query"]
    assert document["components"]["schemas"]["SearchBody"]["additionalProperties"] is False


def query_parameters(operation: dict[str, Any]) -> list[str]:
    return [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]


async def test_a_query_parameter_that_a_route_does_not_have_is_refused(refusing_api: Api) -> None:
    document = (await refusing_api.http.get("/openapi.json")).json()
    routes = {route: one for route, one in operations(document).items() if route[1].startswith("/v1/")}
    assert len(routes) > 12
    for (method, template), operation in routes.items():
        path = re.sub(r"{\w+}", "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11", template)
        response = await refusing_api.http.request(method, path, params={"waitt": "geheim"})
        assert response.status_code == 422, (method, template)
        if method == "head":
            continue
        error = problem(response)
        assert error["code"] == "invalid_request"
        assert [one["place"] for one in error["details"]["problems"]] == ["waitt"]
        names = query_parameters(operation)
        assert f"this route has {', '.join(names) or 'none'}" in error["message"]
        assert "geheim" not in response.text
    assert query_parameters(routes["post", "/v1/documents"]) == ["wait"]


async def test_query_parameters_that_exist_are_taken(refusing_api: Api) -> None:
    for params in ({"limit": 1, "collection": "default"}, {}):
        assert (await refusing_api.http.get("/v1/documents", params=params)).status_code == 200
    assert (await refusing_api.http.get("/v1/jobs", params={"unfinished": "true"})).status_code == 200
    both = await refusing_api.http.get("/v1/jobs", params={"limit": 1, "Limit": 2, "\ud7ff" * 500: 3})
    assert [one["place"] for one in problem(both)["details"]["problems"]] == ["Limit", "\ud7ff" * 200]
    assert (await refusing_api.http.get("/healthz", params={"probe": "1"})).status_code == 200
