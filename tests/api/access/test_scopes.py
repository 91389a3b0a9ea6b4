"""Every route says what it is for, and keeps out whoever is not."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from service.types import AccessScope
from tests.api.access.conftest import Keyed
from tests.api.access.routes import api_routes
from tests.api.conftest import problem

PUBLIC = {"/healthz", "/readyz", "/login", "/logout", "/preferences"}
"""What anybody gets; a path is added here only when it shows nothing."""

ONLY_LOOKING = {"/v1/search", "/v1/search/batch", "/v1/split/preview", "/v1/answer", "/v1/feedback"}
"""Routes that take a body and change nothing that others see."""


async def test_every_route_declares_one_scope(keyed: Keyed) -> None:
    routes = api_routes(keyed.api.app)
    assert len(routes) > 20
    assert {"/v1/documents/{document_id}/original", "/metrics", "/documents/{document_id}"} <= {r.path for r in routes}
    undeclared = {route.path for route in routes if not route.scopes} - PUBLIC
    assert not undeclared, "declare READ, WRITE or ADMIN in `dependencies`"
    assert not {route.path for route in routes if len(set(route.scopes)) > 1}


async def test_what_changes_something_needs_more_than_read(keyed: Keyed) -> None:
    for route in api_routes(keyed.api.app):
        looks = not route.methods - {"GET", "HEAD"} or route.path in ONLY_LOOKING | PUBLIC
        if route.include_in_schema and not looks:
            assert set(route.scopes) & {AccessScope.WRITE, AccessScope.ADMIN}, route.path


async def test_openapi_tells_where_a_key_is_asked_for(keyed: Keyed) -> None:
    document = keyed.api.app.openapi()
    scheme = document["components"]["securitySchemes"]["api_key"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert ("security" in operation) == (path not in PUBLIC), (method, path)


async def test_without_a_key_nothing_but_what_is_public_is_answered(keyed: Keyed) -> None:
    for route in api_routes(keyed.api.app):
        path = re.sub(r"\{[^}]*\}", str(uuid4()), route.path)
        for method in route.methods:
            if (method, path) == ("POST", "/login"):
                continue  # a key is in the form
            response = await keyed.nobody.request(method, path)
            assert (response.status_code == 401) == (route.path not in PUBLIC), (method, path, response.text)
    for path in ("/openapi.json", "/mcp", "/mcp/", "/nothing/of/the/kind", "/v1/documents/", "//healthz", "/static"):
        response = await keyed.nobody.get(path)
        assert (response.status_code, problem(response)["code"]) == (401, "key_missing"), path
        assert response.headers["www-authenticate"] == 'Bearer realm="fuzi"'
    public = keyed.nobody.get("/healthz", headers={"Authorization": "Bearer nonsense"})
    assert (await public).status_code == 200


@pytest.mark.parametrize("scope", list(AccessScope))
async def test_a_key_for_less_is_refused_before_the_route_does_anything(keyed: Keyed, scope: AccessScope) -> None:
    client = keyed.clients[str(scope)]
    for route in api_routes(keyed.api.app):
        for needed in route.scopes:
            if scope.includes(needed):
                continue
            path = re.sub(r"\{[^}]*\}", str(uuid4()), route.path)
            for method in route.methods:
                response = await client.request(method, path)
                assert response.status_code == 403, (method, path)
                if route.include_in_schema:
                    error = problem(response)
                    assert (error["code"], error["details"]) == ("scope_missing", {"scope": str(needed)})
