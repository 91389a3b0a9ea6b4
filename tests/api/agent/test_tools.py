"""The tools over documents made by hand: budgets, neighbours, who may see what, and what is out of order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from service.agent import Library, OwnLibrary, create_server
from service.agent.results import cards_of, cut_to, told_cards
from service.split import estimate_tokens
from service.types import AccessScope, Principal
from tests.api.conftest import Api

LONG = "\n\n".join(
    f"# 第{number}章\n\n" + f"水泵{number}号每半年更换一次轴承，由设备部负责。" * 20 for number in range(6)
)


def answer_of(contents: list[str]) -> dict[str, Any]:
    passages = [
        {
            "chunk_id": f"id-{at}", "document_id": "d", "collection": "default", "source": "a.md", "title": None,
            "heading_path": [], "first_page": at + 1, "last_page": at + 2, "start": 70, "end": 70 + len(content),
            "content": content, "hits": [{
                "start": 70 + len(content) // 3, "end": 71 + len(content) // 2,
                "first_page": at + 2, "last_page": at + 2,
            }],
        }
        for at, content in enumerate(contents)
    ]  # fmt: skip
    return {"passages": passages, "warnings": [{"message": "m"}]}


@given(st.lists(st.text("水电 a", min_size=1, max_size=900), max_size=8), st.integers(100, 3000))
def test_cards_keep_their_budget_and_their_order(contents: list[str], budget: int) -> None:
    cards = cards_of("问", answer_of(contents), budget)
    assert [card.passage_id for card in cards.results] == [f"id-{at}" for at in range(len(cards.results))]
    assert sum(estimate_tokens(card.text) for card in cards.results) <= max(budget, 100)
    for at, card in enumerate(cards.results):
        assert card.text == contents[at][card.text_start - card.start : card.text_end - card.start]
        assert card.text_pages == ([at + 2] if card.text_start > card.start else card.pages[-len(card.text_pages) :])
    assert bool(cards.results) == bool(contents)
    assert "Warning: m" in told_cards(cards)


@given(st.text(max_size=200), st.integers(0, 100))
def test_a_text_is_cut_where_its_budget_ends(text: str, tokens: int) -> None:
    cut = cut_to(text, tokens)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= tokens
    assert cut == text or estimate_tokens(text[: len(cut) + 1]) > tokens


async def called(library: Library, tool: str, **arguments: Any) -> dict[str, Any]:
    async with Client(create_server(lambda _ctx: library)) as client:
        result = await client.call_tool(tool, arguments)
    return {"is_error": result.is_error, **(result.structured_content or {})}


async def test_neighbours_are_read_and_given_up_before_the_passage_is_cut(api: Api) -> None:
    document = await api.put("水泵.md", LONG)
    parents = (await api.http.get(f"/v1/documents/{document}/chunks")).json()["parents"]
    library = OwnLibrary(api.services)
    middle = parents[2]
    asked = {"passage_id": middle["chunk_id"], "before": 1, "after": 2}
    read = await called(library, "read_passage", **asked)
    assert (read["start"], read["end"]) == (parents[1]["start"], parents[4]["end"])
    assert read["text"] == LONG[read["start"] : read["end"]]
    assert (read["passages_before"], read["passages_after"]) == (1, len(parents) - 5)

    short = await called(library, "read_passage", **asked, max_tokens=estimate_tokens(middle["content"]) + 5)
    assert (short["text"], short["is_cut"]) == (middle["content"], False)
    cut = await called(library, "read_passage", **asked, max_tokens=100)
    assert middle["content"].startswith(cut["text"])
    assert cut["is_cut"]

    children = (await api.http.get(f"/v1/documents/{document}/chunks")).json()["children"]
    child = next(child for child in children if child["parent_chunk_id"] == middle["chunk_id"])
    by_child = await called(library, "read_passage", passage_id=child["chunk_id"])
    assert by_child["passage_id"] == middle["chunk_id"]


async def test_an_agent_sees_what_its_key_may_see(api: Api) -> None:
    hidden = await api.put("工资.md", "水泵操作工的工资是每月八千元。", collection="hr")
    await api.put("水泵.md", "水泵每半年更换一次轴承。", collection="tech")
    passage = (await api.http.get(f"/v1/documents/{hidden}/chunks")).json()["parents"][0]["chunk_id"]
    caller = Principal(None, "agent", frozenset({AccessScope.READ}), frozenset({"tech"}))
    library = OwnLibrary(api.services, caller)
    found = await called(library, "search_documents", query="水泵 工资")
    assert [card["collection"] for card in found["results"]] == ["tech"]
    assert (await called(library, "list_documents"))["total"] == 1
    for tool, arguments in {
        "read_passage": {"passage_id": passage},
        "search_documents": {"query": "工资", "collections": ["hr"]},
    }.items():
        refused = await called(library, tool, **arguments)
        assert (refused["is_error"], refused["error"]["code"] in {"passage_not_found", "collection_not_found"}) == (
            True,
            True,
        )


async def test_a_search_that_finds_nothing_is_no_failure_and_a_dead_backend_is(api: Api) -> None:
    library = OwnLibrary(api.services)
    found = await called(library, "search_documents", query="水泵")
    assert (found["is_error"], found["results"]) == (False, [])

    from service.cli.work.remote import open_remote  # noqa: PLC0415 - the way `fuzi mcp --url` goes

    async with open_remote("http://127.0.0.1:1") as nobody:
        failed = await called(nobody, "search_documents", query="水泵")
    assert (failed["is_error"], failed["error"]["code"], failed["error"]["retryable"]) == (True, "unavailable", True)
    assert "results" not in failed


@pytest.mark.parametrize("path", ["/v1/passages/0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11", "/v1/passages/x"])
async def test_a_passage_that_is_not_there_is_said_so(refusing_api: Api, path: str) -> None:
    answer = await refusing_api.http.get(path)
    assert answer.status_code == (404 if path.endswith("1") else 422)
