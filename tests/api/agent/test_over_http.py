"""The tools as a client of the SDK sees them over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from tests.api.answer.conftest import MANUAL, TRAVEL, WARRANTY, Service


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call(service: Service, tool: str, **arguments: Any) -> CallToolResult:
    async with Client(f"{service.url}/mcp") as client:
        return await client.call_tool(tool, arguments)


async def test_three_tools_are_offered_and_none_changes_anything(service: Service) -> None:
    async with Client(f"{service.url}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() == {"search_documents", "read_passage", "list_documents"}
    for tool in tools.values():
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert tool.description
        assert tool.output_schema is not None
        assert "ctx" not in tool.input_schema["properties"]


async def test_what_a_search_finds_can_be_read_on(service: Service) -> None:
    found = await call(service, "search_documents", query="更换滤芯", top_n=1)
    assert not found.is_error
    structured: dict[str, Any] = found.structured_content or {}
    [card] = structured["results"]
    assert (card["source"], card["text"], card["is_excerpt"]) == ("空压机.md", MANUAL, False)
    assert card["passage_id"] in text_of(found)
    assert "切断电源" in text_of(found)

    read = await call(service, "read_passage", passage_id=card["passage_id"], before=3, after=3)
    passage: dict[str, Any] = read.structured_content or {}
    assert passage["text"] == MANUAL[passage["start"] : passage["end"]]
    assert (passage["passages_before"], passage["passages_after"], passage["is_cut"]) == (0, 0, False)


async def test_the_answer_keeps_to_its_budget(service: Service) -> None:
    found = await call(service, "search_documents", query="更换滤芯", max_tokens=100)
    cards: list[dict[str, Any]] = (found.structured_content or {})["results"]
    assert cards
    documents = {"空压机.md": MANUAL, "差旅.md": TRAVEL, "售后.md": WARRANTY}
    assert all(card["text"] in documents[card["source"]] for card in cards)
    assert len(cards) < len(documents)


async def test_nothing_found_is_an_answer(service: Service) -> None:
    listed = await call(service, "list_documents", source_contains="没有这个")
    assert (listed.is_error, listed.structured_content) == (False, {"documents": [], "total": 0, "offset": 0})
    assert "No document matches" in text_of(listed)


async def test_documents_are_listed(service: Service) -> None:
    listed: dict[str, Any] = (await call(service, "list_documents", limit=1)).structured_content or {}
    assert (len(listed["documents"]), listed["total"]) == (1, 3)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("read_passage", {"passage_id": str(uuid4())}, "passage_not_found"),
        ("search_documents", {"query": "水", "collections": ["没有"]}, "collection_not_found"),
        ("search_documents", {"query": " "}, "invalid_input"),
    ],
)
async def test_what_is_asked_wrongly_is_an_error_with_its_code(
    service: Service, tool: str, arguments: dict[str, Any], code: str
) -> None:
    result = await call(service, tool, **arguments)
    assert result.is_error
    assert (result.structured_content or {})["error"]["code"] == code
    assert "refused" in text_of(result)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Origin": "http://evil.example"},
    ],
)
def test_pages_of_other_sites_are_kept_out(service: Service, headers: dict[str, str]) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    sent = {"Accept": "application/json, text/event-stream", **headers}
    assert httpx.post(f"{service.url}/mcp", json=body, headers=sent).status_code == 403
