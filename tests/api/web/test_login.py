"""With API keys in force pages ask for one, and show what it is for and no more."""

from __future__ import annotations

import pytest

from service.flows.keys import KeyParts, create_key
from service.types import AccessScope
from tests.api.conftest import Api
from tests.api.web.conftest import check

ENGLISH = {"Accept-Language": "en", "Accept": "text/html"}


@pytest.fixture
async def keys(api: Api) -> dict[str, str]:
    """Keys for everything, and for reading one collection only; from the first on, all requests need one."""
    await api.put("开放.txt", "大家都可以看的内容。", collection="open")
    await api.put("内部.txt", "只有内部可以看的内容。", collection="closed")
    parts = KeyParts(api.services.engine)
    everything = await create_key(parts, "everything", [AccessScope.ADMIN])
    reading = await create_key(parts, "reading", [AccessScope.READ], ["open"])
    api.app.state.gate.keyring.forget()
    return {"everything": everything.key, "reading": reading.key}


async def log_in(api: Api, key: str) -> None:
    response = await api.http.post("/login", data={"key": key, "next": "/search?q=1"}, headers=same_origin())
    assert (response.status_code, response.headers["location"]) == (303, "/search?q=1")
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def same_origin() -> dict[str, str]:
    return {"Origin": "http://fuzi.test", "Sec-Fetch-Site": "same-origin"}


async def test_without_keys_there_is_no_login(api: Api) -> None:
    response = await api.http.get("/login?next=/jobs")
    assert (response.status_code, response.headers["location"]) == (303, "/jobs")
    assert "Log out" not in (await api.http.get("/", headers=ENGLISH)).text


async def test_a_key_opens_the_console_until_it_is_forgotten(api: Api, keys: dict[str, str]) -> None:
    closed = await api.http.get("/jobs?status=failed", headers=ENGLISH)
    assert (closed.status_code, closed.headers["location"]) == (303, "/login?next=%2Fjobs%3Fstatus%3Dfailed")
    form = await api.http.get(closed.headers["location"], headers=ENGLISH)
    check(form.text)
    assert 'name="next" value="/jobs?status=failed"' in form.text
    assert "/evaluations" not in form.text
    wrong = await api.http.post("/login", data={"key": "fuzi_no", "next": "/"}, headers={**ENGLISH, **same_origin()})
    assert wrong.status_code == 401
    assert "unknown, revoked or expired" in wrong.text
    assert "set-cookie" not in wrong.headers

    await log_in(api, keys["everything"])
    page = (await api.http.get("/", headers=ENGLISH)).text
    assert "Log out" in page
    assert "内部.txt" in page
    assert (await api.http.get("/evaluations", headers=ENGLISH)).status_code == 200

    left = await api.http.post("/logout", headers=same_origin())
    assert left.headers["location"] == "/login"
    assert (await api.http.get("/", headers=ENGLISH)).status_code == 303
    fragment = await api.http.get("/documents/live", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["HX-Redirect"]) == (401, "/login")


async def test_a_key_shows_its_collections_and_offers_what_it_may_do(api: Api, keys: dict[str, str]) -> None:
    await log_in(api, keys["reading"])
    for path in ("/", "/search?q=内容", "/compare?q=内容", "/jobs", "/documents/live", "/ask"):
        page = await api.http.get(path, headers=ENGLISH)
        assert page.status_code == 200, path
        assert "内部" not in page.text, path
        assert "closed" not in page.text, path
    assert "开放.txt" in (await api.http.get("/", headers=ENGLISH)).text
    page = (await api.http.get("/", headers=ENGLISH)).text
    assert 'type="file"' not in page
    assert "/delete" not in page
    assert "/evaluations" not in page
    assert "/health" not in page
    for path in ("/evaluations", "/health", "/health/facts"):
        assert (await api.http.get(path, headers=ENGLISH)).status_code == 403
    listed = (await api.http.get("/v1/documents")).json()["documents"]
    refused = await api.http.post(f"/documents/{listed[0]['document_id']}/delete", headers={**ENGLISH, **same_origin()})
    assert refused.status_code == 403
    assert "Your key is not for this." in refused.text
    upload = await api.http.post("/documents", files={"file": ("x.txt", "x")}, headers={**ENGLISH, **same_origin()})
    assert upload.status_code == 403


async def test_a_page_of_another_site_can_send_no_form(api: Api, keys: dict[str, str]) -> None:
    await log_in(api, keys["everything"])
    listed = (await api.http.get("/v1/documents")).json()["documents"]
    path = f"/documents/{listed[0]['document_id']}/delete"
    refused = await api.http.post(path, headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"})
    assert refused.status_code == 403
    assert (await api.http.get("/v1/documents")).json()["total"] == 2
