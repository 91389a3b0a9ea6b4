"""Whatever files, titles and visitors say is shown as text."""

from __future__ import annotations

from service.flows.keys import KeyParts, create_key
from service.types import AccessScope
from tests.api.conftest import Api
from tests.api.web.conftest import HOSTILE, Console, check

QUOTES = "\"'><script>alert(1)</script>{{ 1234567*7 }}{% x %}<!--"


async def test_names_titles_and_texts_of_documents_are_shown_as_text(console: Console) -> None:
    chunks = (await console.api.http.get(f"/v1/documents/{console.hostile}/chunks")).json()
    chunk = chunks["children"][0]["chunk_id"]
    for path in (
        "/",
        f"/documents/{console.hostile}",
        f"/documents/{console.hostile}?chunk={chunk}",
        f"/documents/{console.hostile}/chunks/{chunk}",
        f"/documents/{console.hostile}/delete",
        f"/documents/{console.hostile}/part?parent=0",
        "/search?q=危险的文字",
        "/compare?q=危险的文字",
        "/jobs",
        "/documents/live",
    ):
        page = await console.page(path)
        assert HOSTILE not in page, path
        assert "<script>" not in page, path
        assert "<img" not in page, path
    assert "&lt;script&gt;" in await console.page(f"/documents/{console.hostile}")


NAMES = ("q", "collection", "status", "source", "document", "notice", "vector_weight", "a_rrf_k", "offset", "next")


async def test_what_an_address_says_is_shown_as_text(console: Console) -> None:
    paths = ("/", "/search", "/compare", "/ask", "/jobs", "/health", "/login", f"/documents/{console.manual}")
    alone = [("/", {name: QUOTES}) for name in NAMES] + [("/search", {"q": QUOTES}), ("/ask", {"q": QUOTES})]
    for path, params in [(path, dict.fromkeys(NAMES, QUOTES)) for path in paths] + alone:
        response = await console.api.http.get(path, params=params, headers={"Accept": "text/html"})
        assert response.status_code in {200, 303, 422}, path
        check(response.text)
        assert "<script>alert" not in response.text, path
        assert "8641969" not in response.text, path


async def test_a_host_that_breaks_out_is_refused_or_shown_as_text(api: Api) -> None:
    headers = {"Host": 'a"><script>alert(1)</script>', "Accept-Language": "en"}
    refusal = await api.http.get("/", headers=headers)
    assert refusal.status_code == 403
    assert "<script>alert" not in refusal.text or refusal.headers["Content-Type"] == "application/json"

    key = (await create_key(KeyParts(api.services.engine), "operator", [AccessScope.ADMIN])).key
    api.app.state.gate.keyring.forget()
    page = (await api.http.get("/", headers={**headers, "X-API-Key": key})).text  # with a key any name leads here
    check(page)
    assert "No documents yet." in page, "which shows the address to send files to"
    assert "<script>alert" not in page
