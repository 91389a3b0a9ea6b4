"""Searching: order, filters, both legs, degradation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from service.errors import CollectionNotFound, EmbedderUnavailable, InvalidInput
from service.search import search
from service.store.search_log import SearchLog
from service.types import SearchRequest, Vector
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, flow_settings, services_with


async def test_a_passage_shows_where_it_came_from(library: Library) -> None:
    body = "# 保修\n\n" + "产品自购买之日起保修三年。" * 10 + "\n\n# 退货\n\n" + "七天之内可以无理由退货。" * 10
    stored = await library.put("政策.md", body, metadata={"year": 2024})
    result = await library.ask("无理由退货")
    best = result.passages[0]
    assert (best.document_id, best.source, best.collection) == (stored.document_id, "政策.md", "default")
    assert best.heading_path == ("退货",)
    assert best.metadata == {"year": 2024}
    assert body[best.start : best.end] == best.content
    assert best.rank_before_rerank == 1
    assert all(best.start <= hit.start < hit.end <= best.end for hit in best.hits)
    assert best.rrf_score == best.hits[0].candidate.rrf_score
    assert {"embed_ms", "retrieve_ms", "expand_ms", "rerank_ms", "total_ms"} == set(result.timings_ms)


async def test_equal_texts_come_in_the_same_order_every_time(library: Library) -> None:
    """BR-053"""
    for number in range(30):
        await library.put(f"{number}.md", "统一的报销制度。")
    first = [p.document_id for p in (await library.ask("报销制度", top_n=10)).passages]
    assert len(set(first)) == 10
    for _ in range(20):
        assert [p.document_id for p in (await library.ask("报销制度", top_n=10)).passages] == first


async def test_numbers_in_metadata_are_numbers(library: Library) -> None:
    """BR-069"""
    for n in (9, 10, 100):
        await library.put(f"{n}.md", "发票编号说明。", metadata={"n": n, "tags": ["票", str(n)], "deep": {"n": n}})
    for expression, expected in [
        ({"n": {"$gte": 10}}, {"10.md", "100.md"}),
        ({"n": {"$lt": 10}}, {"9.md"}),
        ({"n": 9}, {"9.md"}),
        ({"n": "9"}, set()),
        ({"n": {"$ne": 9}}, {"10.md", "100.md"}),
        ({"n": {"$in": [9, 100]}}, {"9.md", "100.md"}),
        ({"n": {"$nin": [9, 100]}}, {"10.md"}),
        ({"tags": {"$contains": "9"}}, {"9.md"}),
        ({"deep.n": {"$gt": 10}}, {"100.md"}),
        ({"missing": {"$exists": False}}, {"9.md", "10.md", "100.md"}),
        ({"missing": {"$ne": 1}}, {"9.md", "10.md", "100.md"}),
        ({"$or": [{"n": 9}, {"$not": {"n": {"$lte": 10}}}]}, {"9.md", "100.md"}),
    ]:
        assert set(await library.sources("发票", metadata=expression)) == expected, expression


async def test_filters_cannot_be_escaped(library: Library) -> None:
    """BR-050, BR-070"""
    await library.put("人事.md", "人事部门的休假制度。", metadata={"dept": "hr"})
    await library.put("财务.md", "财务部门的报销制度。", metadata={"dept": "finance"})
    assert await library.sources("制度", metadata={"dept": "hr"}) == ["人事.md"]
    for query in ("dept:finance", "metadata.dept:finance OR 报销", "id:*"):
        assert "财务.md" not in await library.sources(query, metadata={"dept": "hr"})
    for expression in (
        {"dept' OR '1'='1": "x"},
        {"dept": "x' OR '1'='1"},
        {"dept')='a' OR (metadata->>'dept": "b"},
        {"dept": "a'); DROP TABLE documents;--"},
    ):
        assert await library.sources("制度", metadata=expression) == []


async def test_collections_are_apart(library: Library) -> None:
    await library.put("a.md", "值班安排。", collection="甲")
    await library.put("a.md", "值班安排。", collection="乙")
    assert len(await library.sources("值班")) == 2
    assert [p.collection for p in (await library.ask("值班", collections=["乙"])).passages] == ["乙"]
    assert [p.collection for p in (await library.ask("值班", collections=["甲"], sources=["a.md"])).passages] == ["甲"]
    with pytest.raises(CollectionNotFound):
        await library.ask("值班", collections=["丙"])


@pytest.mark.parametrize(
    "query",
    [
        "foo' bar",
        "a + b",
        "C++",
        "title:(",
        '"未闭合 说明',
        "区别 && 说明 || !其他",
        "\\",
        "*",
        "[1 TO",
        "区别说明",
        "？？？",
    ],
)
async def test_no_query_is_a_syntax_error(library: Library, query: str) -> None:
    """BR-049, BR-051"""
    await library.put("a.md", "C++ 与 C# 的区别说明，编号 a.bcde 和 +(1)2345。你好？？？")
    found = await library.sources(query, vector=0)
    assert found == (["a.md"] if "区别" in query or "说明" in query or query in {"C++", "a + b", "[1 TO"} else [])
    assert await library.sources(query) == ["a.md"]


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u3000"])
async def test_a_blank_query_is_refused(library: Library, query: str) -> None:
    """BR-067"""
    with pytest.raises(InvalidInput):
        await library.ask(query)


async def test_words_inside_words_and_similar_part_numbers(library: Library) -> None:
    """BR-054, BR-055"""
    for name in ("AX-200B", "AX-300B", "BX-200C"):
        await library.put(f"{name}.md", f"{name} 型控制器的额定电压为二十四伏。")
    await library.put("桥.md", "南京市长江大桥今晚封闭维修。")
    assert (await library.sources("AX-200B", vector=0))[0] == "AX-200B.md"
    for query in ("长江大桥", "大桥", "南京", "长江"):
        assert await library.sources(query, vector=0) == ["桥.md"], query


async def test_a_broken_bm25_index_is_named_and_the_vector_leg_answers(library: Library) -> None:
    """BR-057"""
    await library.put("a.md", "保修期为三年。")
    async with library.services.engine.begin() as connection:
        await connection.execute(text("drop index rag.child_chunk_bm25"))
    result = await library.ask("保修期")
    assert [p.source for p in result.passages] == ["a.md"]
    assert [w.code for w in result.warnings] == ["fts_unavailable"]


class Silent(HashEmbedder):
    """Cannot embed queries."""

    async def embed_query(self, text: str) -> Vector:
        raise EmbedderUnavailable(f"no vector for {len(text)} characters")


async def test_without_the_model_the_fts_leg_answers(database: str, tmp_path: Path) -> None:
    async with services_with(flow_settings(database, tmp_path / "home"), Silent(384)) as services:
        library = Library(services, tmp_path)
        await library.put("a.md", "保修期为三年。")
        result = await library.ask("保修期")
        assert [p.source for p in result.passages] == ["a.md"]
        assert [w.code for w in result.warnings] == ["vector_unavailable"]
        with pytest.raises(EmbedderUnavailable):
            await library.ask("保修期", fts=0)


async def test_readers_see_one_version_or_the_next_and_never_a_gap(library: Library) -> None:
    versions = [f"第{word}版的保修期说明。" * 40 for word in "甲乙丙丁戊"]
    await library.put("政策.md", versions[0])
    done = asyncio.Event()
    seen: set[str] = set()

    async def read() -> None:
        while not done.is_set():
            passages = (await library.ask("保修期说明", top_n=20)).passages
            kinds = {passage.content[1] for passage in passages}
            assert len(kinds) == 1, f"a reader saw {kinds or 'nothing'}"
            seen.update(kinds)

    readers = [asyncio.create_task(read()) for _ in range(2)]
    for version in versions[1:]:
        await library.put("政策.md", version)
    done.set()
    await asyncio.gather(*readers)
    assert len(seen) > 1


async def test_searches_are_noted_for_analysts(library: Library) -> None:
    await library.put("a.md", "保修期为三年。")
    search_log = SearchLog(library.services.engine, share=1)
    parts = replace(library.services.for_search, search_log=search_log)
    request = SearchRequest("保修期\ud800多长", 5, 50, 70, 30, 60)
    result = await search(parts, request)
    await search_log.close()
    async with library.services.engine.connect() as connection:
        row = (await connection.execute(text("select * from rag.search_log"))).one()
    assert row.query == "保修期多长"
    assert row.parameters["top_n"] == 5
    assert row.timings_ms == dict(result.timings_ms)
    assert row.result_chunk_ids == [passage.chunk_id for passage in result.passages]


async def test_a_log_that_is_switched_off_notes_nothing(library: Library) -> None:
    await library.put("a.md", "保修期为三年。")
    search_log = SearchLog(library.services.engine, share=0)
    await search(replace(library.services.for_search, search_log=search_log), SearchRequest("保修", 5, 50, 70, 30, 60))
    await search_log.close()
    async with library.services.engine.connect() as connection:
        assert await connection.scalar(text("select count(*) from rag.search_log")) == 0
