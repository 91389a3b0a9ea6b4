"""What a browser may be made to do: cookies, pages of other sites, headers, the way to the login."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from service.config import ServerSettings
from service.extract import Extractor
from tests.api.access.conftest import Keyed, made_keys
from tests.api.conftest import Api, api_settings, opener, problem, running
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder

FRIEND = "https://app.example.org"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 422),
        ({"Sec-Fetch-Site": "none"}, 422),
        ({"Origin": "http://fuzi.test"}, 422),
        ({"Origin": "https://fuzi.test"}, 422),  # behind a proxy that speaks TLS
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://fuzi.test"}, 403),
        ({"Origin": "http://fuzi.test.evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://fuzi.test:8000"}, 403),
    ],
)
async def test_the_cookie_changes_something_only_from_a_page_of_our_own(
    keyed: Keyed, headers: Mapping[str, str], status: int
) -> None:
    cookie = {"Cookie": f"fuzi_key={keyed.keys['write']}"}
    response = await keyed.nobody.post("/v1/documents", headers={**cookie, **headers})
    assert response.status_code == status, response.text
    assert status != 403 or problem(response)["code"] == "origin_refused"
    assert (await keyed.nobody.get("/v1/documents", headers={**cookie, **headers})).status_code == 200
    by_header = {"X-API-Key": keyed.keys["write"]}
    assert (await keyed.nobody.post("/v1/documents", headers={**by_header, **headers})).status_code == 422


async def test_a_key_in_a_header_counts_before_the_cookie(keyed: Keyed) -> None:
    headers = {"Cookie": f"fuzi_key={keyed.keys['admin']}", "X-API-Key": keyed.keys["read"]}
    assert (await keyed.nobody.get("/v1/keys", headers=headers)).status_code == 403
    headers = {"Cookie": f"fuzi_key={keyed.keys['admin']}", "Authorization": "Bearer nonsense"}
    assert (await keyed.nobody.get("/v1/keys", headers=headers)).status_code == 401


async def test_pages_lead_to_the_login_and_it_to_them(keyed: Keyed) -> None:
    page = await keyed.nobody.get("/?collection=a%20b", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (303, "/login?next=%2F%3Fcollection%3Da%2520b")
    part = await keyed.nobody.get("/documents/live", headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (401, "/login")
    machine = await keyed.nobody.get("/v1/documents", headers={"Accept": "text/html"})
    assert machine.status_code == 401
    own = {"Sec-Fetch-Site": "same-origin"}
    wrong = await keyed.nobody.post("/login", data={"key": "fuzi_" + "x" * 43}, headers=own)
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    foreign = await keyed.nobody.post("/login", data={"key": keyed.keys["read"]}, headers={"Origin": FRIEND})
    assert foreign.status_code == 403, "nobody is logged in by another site"
    right = await keyed.nobody.post("/login", data={"key": keyed.keys["read"], "next": "/jobs"}, headers=own)
    assert (right.status_code, right.headers["location"]) == (303, "/jobs")
    cookie = right.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    keyed.nobody.cookies.clear()


async def test_answers_say_how_browsers_keep_them_to_themselves(keyed: Keyed) -> None:
    page = await keyed.read.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 200
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert (policy["script-src"], policy["style-src"], policy["frame-ancestors"]) == ("'self'", "'self'", "'none'")
    assert "unsafe" not in page.headers["content-security-policy"]
    original = await keyed.read.get(f"/v1/documents/{keyed.open_document}/original")
    assert original.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert original.headers["cache-control"] == "private, no-cache"
    refused = await keyed.nobody.get("/v1/documents")
    for response in (page, original, refused, await keyed.nobody.get("/healthz")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        assert response.headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in response.headers
    assert refused.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_where_no_key_is_needed_no_other_site_changes_anything(
    refusing_api: Api, headers: Mapping[str, str]
) -> None:
    files = {"file": ("a.txt", b"planted")}
    response = await refusing_api.http.post("/v1/documents", files=files, headers=headers)
    assert (response.status_code, problem(response)["code"]) == (403, "origin_refused")
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "DELETE"}
    preflight = await refusing_api.http.options("/v1/documents", headers=asked)
    assert "access-control-allow-origin" not in preflight.headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("localhost:8000", 200),
        ("api:8000", 200),
        ("fuzi.internal", 200),
        ("rebound.example.com:8000", 403),
        ("127.0.0.1.nip.io", 403),
        ("[::1].evil.example", 403),
        ("localhost/evil.example", 403),
        ("", 403),
        ("localhost.example.org.", 403),
    ],
)
async def test_where_no_key_is_needed_no_foreign_name_leads_here(refusing_api: Api, host: str, status: int) -> None:
    response = await refusing_api.http.get("/v1/documents", headers={"Host": host})
    assert response.status_code == status
    assert status == 200 or problem(response)["code"] == "origin_refused"


async def test_with_a_key_any_name_leads_here(keyed: Keyed) -> None:
    headers = {"Host": "fuzi.example.org", "X-API-Key": keyed.keys["read"]}
    assert (await keyed.nobody.get("/v1/documents", headers=headers)).status_code == 200


@pytest.fixture(scope="module")
async def befriended(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, extractor: Extractor
) -> AsyncIterator[tuple[Api, Mapping[str, str]]]:
    """An application with a friend among other sites, and few requests a minute for each key."""
    with databases.fresh() as database:
        settings = api_settings(database, Path(tmp_path_factory.mktemp("befriended")))
        server = ServerSettings(**{**settings.server.model_dump(), "allowed_origins": f"{FRIEND} https://b.example"})
        limits = settings.limits.model_copy(update={"requests_per_minute": 3})
        settings = settings.model_copy(update={"server": server, "limits": limits})
        async with running(settings, opener(extractor, HashEmbedder(384))) as api:
            keys = await made_keys(api)
            api.app.state.gate.keyring.forget()
            yield api, keys


async def test_pages_of_an_allowed_origin_ask_with_a_key_and_never_with_the_cookie(
    befriended: tuple[Api, Mapping[str, str]],
) -> None:
    api, keys = befriended
    asked = {"Origin": FRIEND, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "X-API-Key"}
    preflight = await api.http.options("/v1/search", headers=asked)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, FRIEND)
    assert "access-control-allow-credentials" not in preflight.headers
    assert (await api.http.options("/v1/search", headers={**asked, "Origin": "https://c.example"})).status_code == 400
    with_key = {"Origin": FRIEND, "X-API-Key": keys["write"], "Sec-Fetch-Site": "cross-site"}
    answer = await api.http.get("/v1/documents", headers=with_key)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, FRIEND)
    with_cookie = {"Origin": FRIEND, "Cookie": f"fuzi_key={keys['write']}"}
    assert (await api.http.post("/v1/documents", headers=with_cookie)).status_code == 403


async def test_a_key_that_asks_too_often_is_told_when_to_come_back(befriended: tuple[Api, Mapping[str, str]]) -> None:
    api, keys = befriended
    headers = {"X-API-Key": keys["admin"]}
    answers = [await api.http.get("/v1/collections", headers=headers) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert (problem(answers[3])["code"], problem(answers[3])["retryable"]) == ("rate_limited", True)
    assert 1 <= int(answers[3].headers["retry-after"]) <= 20
    assert (await api.http.get("/v1/collections", headers={"X-API-Key": keys["read"]})).status_code == 200
    assert (await api.http.get("/healthz", headers=headers)).status_code == 200


async def test_no_websocket_is_opened(befriended: tuple[Api, Mapping[str, str]]) -> None:
    api, _ = befriended
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/v1/search", "headers": [], "query_string": b"", "subprotocols": []}
    await api.app(scope, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]
