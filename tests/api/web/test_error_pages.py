"""Errors are pages where a browser asks, and the one JSON shape for everybody else."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from service.config import Settings
from service.extract import Extractor
from service.types import Vector
from tests.api.conftest import Api, opener, problem, running
from tests.api.web.conftest import Console, check
from tests.fakes.hash_embedder import HashEmbedder

BROWSER = MappingProxyType({"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language": "en"})


@pytest.mark.parametrize("path", ["/foo", "/documents/", "/search/more", "/" + "a" * 5000, "/%3Cscript%3E", "/%00"])
async def test_an_address_that_is_none_is_a_page_for_a_browser(console: Console, path: str) -> None:
    response = await console.api.http.get(path, headers=BROWSER)
    assert response.status_code == 404
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in response.headers["content-security-policy"]
    check(response.text)
    assert "There is nothing here." in response.text
    assert "<code>not_found</code>" in response.text, "the code is stable, and can be looked up"
    assert f"<code>{response.headers['X-Request-ID']}</code>" in response.text, "the log knows it by this"
    chinese = await console.api.http.get(path, headers={**BROWSER, "Accept-Language": "zh"})
    assert "这里没有内容。" in chinese.text


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/foo", "*/*"), ("/foo", "application/json"), ("/v1/nothing", BROWSER["Accept"]), ("/v1", BROWSER["Accept"])],
)
async def test_programs_keep_the_json(console: Console, path: str, accept: str) -> None:
    response = await console.api.http.get(path, headers={"Accept": accept})
    assert (response.status_code, problem(response)["code"]) == (404, "not_found")


async def test_a_method_that_a_page_does_not_take_is_a_page_that_names_the_others(console: Console) -> None:
    response = await console.api.http.delete("/search", headers=BROWSER)
    check(response.text)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET")
    assert "<code>method_not_allowed</code>" in response.text


async def test_a_part_of_a_page_gets_the_part_that_tells_the_error(console: Console) -> None:
    response = await console.api.http.get("/foo", headers={"HX-Request": "true", "Accept": "*/*"})
    assert response.status_code == 404
    assert "<html" not in response.text
    assert '<div class="problem" data-code="not_found">' in response.text


async def test_a_body_over_the_limit_is_told_as_a_page(api: Api) -> None:
    most = api.settings.limits.max_upload_mb * 1024 * 1024
    response = await api.http.post("/documents", files={"file": ("x.txt", b"x" * (most + 300_000))}, headers=BROWSER)
    assert response.status_code == 413
    assert "The file is too large." in response.text


class Broken(HashEmbedder):
    """Fails in a way that nobody foresaw."""

    async def embed_query(self, text: str) -> Vector:
        raise ZeroDivisionError("secret detail")


async def test_an_error_that_nobody_foresaw_is_a_page_without_its_text(
    settings: Settings, extractor: Extractor
) -> None:
    async with running(settings, opener(extractor, Broken(384))) as api:
        response = await api.http.get("/search?q=密封圈&fts_weight=0", headers=BROWSER)
        assert response.status_code == 500
        check(response.text)
        assert "An error that nobody foresaw." in response.text
        assert f"<code>{response.headers['X-Request-ID']}</code>" in response.text
        assert "secret detail" not in response.text
