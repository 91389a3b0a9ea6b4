"""What a collection has of its own holds for searches over it, from the next one on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from service.db.corpus import raise_revision
from service.flows.remove import remove
from service.search import search
from service.store.collections import put_settings
from service.types import DocumentFilter, SearchRequest, SearchResult
from tests.flows.conftest import Library

_WORDS = SearchRequest(
    query="", top_n=5, candidates=50, vector_weight=0, fts_weight=30, rrf_k=60, given=frozenset({"vector_weight"})
)


async def _words(library: Library, query: str, **changes: Any) -> SearchResult:
    return await search(library.services.for_search, replace(_WORDS, query=query, **changes))


async def _settle(library: Library, name: str, settings: dict[str, Any]) -> None:
    async with library.services.engine.begin() as connection:
        await put_settings(connection, name, settings)
        await raise_revision(connection)


def _sources(result: SearchResult) -> list[str]:
    return [passage.source for passage in result.passages]


async def test_synonyms_and_ignored_words_work_without_a_new_index(library: Library) -> None:
    await library.put("a.md", "移动电话的保修期为一年。")
    await library.put("b.md", "公司食堂的开放时间。")
    assert _sources(await _words(library, "公司手机")) == ["b.md"]
    await _settle(library, "default", {"synonyms": [{"words": ["手机", "移动电话"]}], "ignore_words": ["公司"]})
    assert _sources(await _words(library, "公司手机")) == ["a.md"]
    await _settle(library, "default", {})
    assert _sources(await _words(library, "公司手机")) == ["b.md"]


async def test_words_of_several_collections(library: Library) -> None:
    """Synonyms of each hold; a word is ignored when all ignore it."""
    await library.put("a.md", "移动电话的保修期为一年。", collection="one")
    await library.put("b.md", "公司食堂的开放时间。", collection="two")
    await _settle(library, "one", {"synonyms": [{"words": ["手机", "移动电话"]}], "ignore_words": ["公司"]})
    assert sorted(_sources(await _words(library, "公司手机"))) == ["a.md", "b.md"]
    assert _sources(await _words(library, "公司手机", collections=["one"])) == ["a.md"]
    await _settle(library, "two", {"ignore_words": ["公司", "食堂"]})
    assert _sources(await _words(library, "公司手机")) == ["a.md"]
    assert sorted(_sources(await _words(library, "食堂手机"))) == ["a.md", "b.md"]


async def test_numbers_hold_for_the_only_collection_unless_the_request_gives_them(library: Library) -> None:
    for number in range(4):
        await library.put(f"{number}.md", "统一的报销制度。")
    await _settle(library, "default", {"top_n": 2, "rrf_k": 1})
    result = await _words(library, "报销")
    assert len(result.passages) == 2
    assert result.passages[0].rrf_score == 30 / 2
    given = frozenset({"top_n", "rrf_k", "vector_weight"})
    result = await _words(library, "报销", given=given)
    assert len(result.passages) == 4
    assert result.passages[0].rrf_score == 30 / 61
    await library.put("other.md", "统一的报销制度。", collection="other")
    assert len((await _words(library, "报销")).passages) == 5
    assert len((await _words(library, "报销", collections=["default"])).passages) == 2


async def test_what_the_fts_leg_looks_for_is_that_of_the_only_collection(library: Library) -> None:
    await library.put("a.md", "滤芯 AX200 的更换。")
    for terms, query, found in (
        ("both", "AX200", ["a.md"]),
        ("words", "AX200", ["a.md"]),
        ("pairs", "AX200", []),  # of Han characters
        ("pairs", "滤芯", ["a.md"]),
    ):
        await _settle(library, "default", {"fts_terms": terms})
        assert _sources(await _words(library, query)) == found, (terms, query)
    assert _sources(await _words(library, "AX200", fts_terms="words", given=frozenset({"fts_terms"}))) == ["a.md"]


async def test_settings_that_cannot_be_read_do_not_stop_searches(library: Library) -> None:
    await library.put("a.md", "报销制度。")
    await _settle(library, "default", {"from_the_future": 1})
    assert _sources(await _words(library, "报销")) == ["a.md"]


async def test_every_change_raises_the_revision_once(library: Library) -> None:
    async def revision() -> int:
        found = (await _words(library, "报销")).corpus_revision
        assert found is not None
        return found

    seen = [await revision()]
    stored = await library.put("a.md", "报销制度。")
    seen.append(await revision())
    await library.put("a.md", "报销制度。")  # unchanged
    assert await revision() == seen[-1]
    await library.put("a.md", "报销制度。", metadata={"year": 2024})
    seen.append(await revision())
    await library.put("a.md", "另一份报销制度。")
    seen.append(await revision())
    await remove(library.services.engine, library.services.originals, stored.document_id)
    seen.append(await revision())
    assert seen == list(range(seen[0], seen[0] + 5))


async def test_completeness(library: Library) -> None:
    for number in range(3):
        await library.put(f"{number}.md", "统一的报销制度。", metadata={"n": number})
    found = (await library.ask("报销制度", top_n=1)).completeness
    assert found is not None
    assert (found.eligible_chunks, found.vector_returned, found.fts_returned) == (None, 3, 3)
    request = replace(_WORDS, query="报销", filters=DocumentFilter(metadata={"n": {"$gte": 1}}), rerank=False, top_n=1)
    result = await search(library.services.for_search, request)
    assert result.completeness is not None
    assert len(result.passages) == 1
    assert (result.completeness.eligible_chunks, result.completeness.vector_returned) == (2, None)
    assert result.completeness.fts_returned == 2
    nothing = await search(library.services.for_search, replace(request, filters=DocumentFilter(metadata={"n": 9})))
    assert nothing.completeness is not None
    assert (nothing.passages, nothing.completeness.eligible_chunks, nothing.completeness.fts_returned) == ((), 0, 0)


async def test_what_is_not_similar_enough_is_not_in_the_vector_leg(library: Library) -> None:
    for number, text in enumerate(("统一的报销制度。", "食堂今天的菜单。")):
        await library.put(f"{number}.md", text)
    base = replace(_WORDS, query="统一的报销制度。", vector_weight=70.0, fts_weight=0.0)
    base = replace(base, given=frozenset({"vector_weight", "fts_weight"}))
    both = (await search(library.services.for_search, base)).passages
    near, far = [passage.hits[0].candidate.vector_distance for passage in both]
    assert near is not None
    assert far is not None
    for similarity, expected in ((1 - near, ["0.md"]), (1 - (near + far) / 2, ["0.md"]), (1 - far, ["0.md", "1.md"])):
        result = await search(library.services.for_search, replace(base, min_vector_similarity=similarity - 1e-9))
        assert _sources(result) == expected
    result = await search(library.services.for_search, replace(base, min_vector_similarity=1 - near + 1e-6))
    assert result.passages == ()
