"""Feedback: kept whatever the search log has, refused only for what cannot be."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from service.store.search_log import SearchLog
from tests.api.conftest import Api, problem

_MANUAL = "# 泵\n\n保修期为两年。\n\n# 阀\n\n阀门每月检查一次。"


async def rows(api: Api, query: str) -> list[dict[str, Any]]:
    async with api.services.engine.connect() as connection:
        return [dict(row) for row in (await connection.execute(text(query))).mappings()]


async def searched(api: Api, query: str = "保修期多长？") -> dict[str, Any]:
    answer = await api.search(query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def judge(api: Api, search_id: str, chunk_id: str, verdict: str = "good", **more: Any) -> httpx.Response:
    body = {"search_id": search_id, "chunk_id": chunk_id, "verdict": verdict, **more}
    return await api.http.post("/v1/feedback", json=body)


async def test_every_search_has_an_id_of_its_own(api: Api) -> None:
    await api.put("泵.md", _MANUAL)
    first, second = await searched(api), await searched(api)
    assert first["search_id"] != second["search_id"]
    batch = (await api.http.post("/v1/search/batch", json={"queries": ["保修期", "阀门"]})).json()["outcomes"]
    assert len({outcome["answer"]["search_id"] for outcome in batch}) == 2


async def test_a_verdict_is_kept_with_its_passage_and_the_last_one_counts(api: Api) -> None:
    await api.put("泵.md", _MANUAL)
    answer = await searched(api)
    passage = answer["passages"][0]
    first = await judge(api, answer["search_id"], passage["chunk_id"], query="保修期多长？", comment="对")
    assert (first.status_code, first.json()["verdict"]) == (201, "good")
    again = await judge(api, answer["search_id"], passage["chunk_id"], "bad")
    assert (again.status_code, again.json()["verdict"]) == (200, "bad")
    (row,) = await rows(api, "select * from analytics.feedback")
    assert (row["verdict"], row["comment"], row["query"], row["is_logged"]) == ("bad", None, "保修期多长？", False)
    assert (row["source"], row["content"], row["collection"]) == ("泵.md", passage["content"], "default")


async def test_a_logged_search_tells_the_query_and_the_rank(api: Api) -> None:
    """The log is written a second later: whether before or after the feedback makes no difference."""
    await api.put("泵.md", _MANUAL)
    log = SearchLog(api.services.engine, 1.0)
    object.__setattr__(api.services, "search_log", log)
    answer = await searched(api)
    early, late = answer["passages"][:2]
    assert (await judge(api, answer["search_id"], early["chunk_id"])).status_code == 201
    await log.close()
    assert (await judge(api, answer["search_id"], late["chunk_id"], "bad")).status_code == 201
    found = await rows(api, "select verdict, query, rank, is_logged from analytics.feedback order by rank")
    assert [tuple(row.values()) for row in found] == [
        ("good", "保修期多长？", 1, True),
        ("bad", "保修期多长？", 2, True),
    ]
    stranger = await judge(api, answer["search_id"], str(uuid4()))
    assert (stranger.status_code, problem(stranger)["code"]) == (422, "invalid_input")


async def test_a_passage_that_was_replaced_is_judged_as_far_as_the_log_knows_it(api: Api) -> None:
    await api.put("泵.md", _MANUAL)
    log = SearchLog(api.services.engine, 1.0)
    object.__setattr__(api.services, "search_log", log)
    logged = await searched(api)
    await log.close()
    object.__setattr__(api.services, "search_log", None)
    unlogged = await searched(api)
    await api.put("泵.md", "保修期现在是三年。")
    chunk_id = logged["passages"][0]["chunk_id"]
    assert (await judge(api, logged["search_id"], chunk_id)).status_code == 201
    (row,) = await rows(api, "select query, source, is_logged from analytics.feedback")
    assert tuple(row.values()) == ("保修期多长？", None, True)
    gone = await judge(api, unlogged["search_id"], chunk_id)
    assert (gone.status_code, problem(gone)["code"]) == (404, "passage_not_found")


async def test_what_is_kept_of_a_passage_outlives_it(api: Api) -> None:
    document_id = await api.put("泵.md", _MANUAL)
    answer = await searched(api)
    chunk_id = answer["passages"][0]["chunk_id"]
    await judge(api, answer["search_id"], chunk_id)
    assert (await api.http.delete(f"/v1/documents/{document_id}")).status_code == 204
    (row,) = await rows(api, "select source, verdict, content from analytics.feedback")
    assert tuple(row.values()) == ("泵.md", "good", answer["passages"][0]["content"])


async def test_many_clicks_at_once_leave_one_verdict(api: Api) -> None:
    await api.put("泵.md", _MANUAL)
    answer = await searched(api)
    chunk_id = answer["passages"][0]["chunk_id"]
    answers = await asyncio.gather(*(judge(api, answer["search_id"], chunk_id) for _ in range(8)))
    assert sorted(each.status_code for each in answers) == [200] * 7 + [201]
    assert len(await rows(api, "select from rag.feedback")) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "fine"},
        {"search_id": "1"},
        {"chunk_id": None},
        {"comment": "长" * 2001},
        {"comment": "a\0b"},
        {"stars": 5},
    ],
)
async def test_a_body_that_is_not_right_is_refused(refusing_api: Api, change: dict[str, Any]) -> None:
    body = {"search_id": str(uuid4()), "chunk_id": str(uuid4()), "verdict": "good", **change}
    answer = await refusing_api.http.post("/v1/feedback", json=body)
    assert (answer.status_code, problem(answer)["code"]) == (422, "invalid_request")


async def test_a_passage_that_never_was_is_not_found(refusing_api: Api) -> None:
    answer = await judge(refusing_api, str(uuid4()), str(uuid4()))
    assert (answer.status_code, problem(answer)["code"]) == (404, "passage_not_found")
