"""Every number of an explanation is the one that put a passage where it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import event, text

from service.search import search
from service.types import DocumentFilter, Explanation, SearchRequest
from tests.flows.conftest import Library

ASKED = SearchRequest("C++ 的区别？", 5, 50, 70, 30, 60, explain=True)


async def explained(library: Library, request: SearchRequest) -> Explanation:
    result = await search(library.services.for_search, request)
    assert result.explanation is not None
    assert result.timings_ms["explain_ms"] > 0
    assert [each.chunk_id for each in result.explanation.passages] == [each.chunk_id for each in result.passages]
    return result.explanation


async def test_it_tells_what_each_leg_was_asked_and_how_it_looked(library: Library) -> None:
    await library.put("a.md", "C++ 与 C# 的区别说明。", metadata={"year": 2024})
    await library.put("b.md", "其他说明。")
    found = await explained(library, replace(ASKED, filters=DocumentFilter(metadata={"year": 2024})))
    assert found.fts_query_text == "C++ 的区别"
    assert {"c++", "区别"} <= set(found.query_words)
    assert found.query_pairs == ("区别",)
    assert (found.vector_leg.returned, found.fts_leg.returned) == (1, 1)
    assert (found.vector_leg.access, found.fts_leg.access) == ("exact", "index")
    assert [scan.index for scan in found.fts_leg.scans] == ["child_chunk_bm25"]
    assert found.eligible_documents == 1
    assert {(index.method, index.valid) for index in found.indexes} == {("bm25", True), ("hnsw", True)}
    assert found.embedding_model == "local multilingual-e5-small"
    assert not found.embedding_from_memory


async def test_shares_add_up_and_belong_to_the_chunk_that_carried_the_passage(library: Library) -> None:
    for number in range(6):
        await library.put(f"{number}.md", "".join(f"第{n}条 违约金的计算，编号{n * number}。" for n in range(40)))
    request = replace(ASKED, query="违约金 编号12", vector_weight=55, rrf_k=7)
    result = await search(library.services.for_search, request)
    assert result.explanation is not None
    assert len(result.passages) == 5
    for passage, why in zip(result.passages, result.explanation.passages, strict=True):
        best = passage.hits[0]
        assert why.vector_share + why.fts_share == pytest.approx(why.rrf_score, rel=1e-12)
        assert why.rrf_score == passage.rrf_score == best.candidate.rrf_score
        assert why.vector_share == (55 / (7 + why.vector_rank) if why.vector_rank else 0)
        assert why.fts_share == (30 / (7 + why.fts_rank) if why.fts_rank else 0)
        assert (why.vector_rank, why.fts_rank) == (best.candidate.vector_rank, best.candidate.fts_rank)
        assert (why.carried_by.chunk_id, why.carried_by.start, why.carried_by.end) == (
            best.chunk_id,
            best.start,
            best.end,
        )
        assert passage.content[best.start - passage.start :].startswith(why.carried_by.excerpt.removesuffix("…"))
        assert why.hit_count == len(passage.hits)


async def test_the_vector_leg_is_explained_with_its_threshold(library: Library) -> None:
    await library.put("a.md", "保修期为三年。")
    explained_with = list[object]()

    def listen(_connection: object, _cursor: object, statement: str, values: dict[str, object], *_: object) -> None:
        if statement.startswith("explain") and "rag.vector_candidates" in statement:
            explained_with.append(values["min_similarity"])

    event.listen(library.services.engine.sync_engine, "before_cursor_execute", listen)
    for threshold in (None, 0.5):
        found = await explained(library, replace(ASKED, min_vector_similarity=threshold))
        assert found.vector_leg.scans
    assert explained_with == [None, 0.5]


async def test_settings_say_where_they_come_from(library: Library) -> None:
    found = await explained(library, replace(ASKED, rrf_k=9, given=frozenset({"query", "rrf_k", "explain"})))
    by_name = {setting.name: setting for setting in found.settings}
    assert (by_name["rrf_k"].value, by_name["rrf_k"].origin) == (9, "request")
    assert (by_name["top_n"].value, by_name["top_n"].origin) == (5, "service")
    assert by_name["top_n"].variable == "FUZI_SEARCH__TOP_N"
    assert (by_name["hnsw.ef_search"].value, by_name["hnsw.iterative_scan"].value) == (400, "relaxed_order")


async def test_settings_of_a_collection_are_told_as_its_own(library: Library) -> None:
    await library.put("a.md", "保修期为三年。")
    async with library.services.engine.begin() as connection:
        await connection.execute(text("""update rag.collection set settings = '{"fts_weight": 10, "top_n": 60}'"""))
    found = await explained(library, replace(ASKED, query="保修期", top_n=5, given=frozenset({"top_n"})))
    by_name = {setting.name: (setting.value, setting.origin) for setting in found.settings}
    assert by_name["fts_weight"] == (10, "collection")
    assert by_name["top_n"] == (5, "request")
    assert by_name["vector_weight"] == (70, "service")
    assert found.passages[0].fts_share == 10 / 61


async def test_a_leg_that_was_not_asked_has_no_share_and_no_plan(library: Library) -> None:
    await library.put("a.md", "保修期为三年。")
    for weights, leg in (({"vector_weight": 0}, "vector_leg"), ({"fts_weight": 0}, "fts_leg")):
        found = await explained(library, replace(ASKED, query="保修期", **weights))  # type: ignore[arg-type]
        silent = getattr(found, leg)
        assert (silent.asked, silent.returned, silent.access, silent.milliseconds) == (False, 0, None, None)
        assert "not looked for" in found.passages[0].sentence
    assert found.embedding_model is not None


async def test_a_leg_that_is_out_of_order_leaves_a_gap_and_no_error(library: Library) -> None:
    await library.put("a.md", "保修期为三年。")
    async with library.services.engine.begin() as connection:
        await connection.execute(text("drop index rag.child_chunk_bm25"))
    found = await explained(library, replace(ASKED, query="保修期"))
    assert (found.fts_leg.asked, found.fts_leg.access) == (False, None)
    assert [index.method for index in found.indexes] == ["hnsw"]
    assert found.passages[0].fts_share == 0


async def test_only_the_terms_that_were_looked_for_are_shown(library: Library) -> None:
    await library.put("a.md", "C++ 与 C# 的区别说明。")
    for terms, words, pairs in (("words", True, ()), ("pairs", False, ("区别",))):
        found = await explained(library, replace(ASKED, fts_terms=terms, given=frozenset({"fts_terms"})))  # type: ignore[arg-type]
        assert ("c++" in found.query_words, found.query_pairs) == (words, pairs)
        assert [scan.index for scan in found.fts_leg.scans] == ["child_chunk_bm25"]
        (setting,) = [each for each in found.settings if each.name == "fts_terms"]
        assert (setting.value, setting.origin, setting.variable) == (terms, "request", "FUZI_SEARCH__FTS_TERMS")


async def test_nothing_found_is_explained_too(library: Library) -> None:
    found = await explained(library, replace(ASKED, collections=[]))
    assert (found.passages, found.vector_leg.returned) == ([], 0)
