"""One application with some documents, for all tests of a module that only look at pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest

from service.extract import Extractor
from tests.api.conftest import Api, fresh_api
from tests.conftest import Databases

MANUAL = """# 空压机手册

## 滤芯更换

每三个月更换一次滤芯，型号 AX-200B。更换前先切断电源，并等待压力归零。新滤芯装好后检查密封圈。

## 日常巡检

每天检查油位、压力和温度。发现异响应立即停机，并通知设备部。巡检记录保存两年。
"""
HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@dataclass(frozen=True)
class Console:
    """The running application, and the documents that it has."""

    api: Api
    manual: str
    hostile: str
    failed: str

    async def page(self, path: str, **headers: str) -> str:
        """The HTML of a page that must be there, after a check that it is well formed and safe."""
        response = await self.api.http.get(path, headers=headers)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        check(response.text)
        return response.text


@pytest.fixture(scope="module")
async def console(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, extractor: Extractor
) -> AsyncIterator[Console]:
    async with fresh_api(databases, tmp_path_factory.mktemp("console"), extractor) as api:
        manual = await api.put("空压机手册.md", MANUAL, metadata='{"department": "设备部"}')
        hostile = await api.put(
            f"{HOSTILE.replace('/', '')}.txt",
            f"危险的文字 {HOSTILE} 到此为止。",
            title=HOSTILE,
            collection="另一个",
        )
        refused = await api.upload("空白.pdf", b"%PDF-1.4 not really")
        assert refused.status_code == 422
        yield Console(api, manual, hostile, refused.json()["error"]["details"]["document_id"])


_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
_OPTIONAL = {"option", "p", "li", "dt", "dd"}


class _Checker(HTMLParser):
    """Every tag is closed, nothing is inline that a strict policy forbids, and nothing comes from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        assert "style" not in values, self.getpos()
        assert not [name for name in values if name.startswith("on")], self.getpos()
        assert tag != "style", self.getpos()
        assert tag != "script" or values.get("src"), self.getpos()
        for name in ("src", "href", "action", "hx-get", "hx-post"):
            target = values.get(name)
            assert target is None or target.startswith(("/", "#")), (tag, target)
        assert len(values) == len(attrs), f"{tag} has an attribute twice"
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in _OPTIONAL:
            self.open.pop()
        assert self.open, f"</{tag}> at {self.getpos()}"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"


def check(html: str) -> None:
    """Fail on a page that is not well formed, or would need more than its own origin."""
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert not checker.open
