"""POST /v1/search: what it answers, and what it refuses."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from tests.api.conftest import Api, problem
from tests.cases import case
from tests.fakes.hash_embedder import HashEmbedder

KEYWORD_ONLY = {"vector_weight": 0}
VECTOR_ONLY = {"fts_weight": 0}

PASSAGE_FIELDS = {
    "rank",
    "chunk_id",
    "document_id",
    "collection",
    "source",
    "title",
    "media_type",
    "metadata",
    "content",
    "highlights",
    "start",
    "end",
    "heading_path",
    "first_page",
    "last_page",
    "rrf_score",
    "rerank_score",
    "hits",
}
HIT_FIELDS = {
    "chunk_id",
    "start",
    "end",
    "first_page",
    "last_page",
    "vector_rank",
    "vector_distance",
    "fts_rank",
    "fts_score",
    "rrf_score",
    "highlights",
}


async def test_an_answer_says_where_each_passage_comes_from(api: Api) -> None:
    document_id = await api.put(
        "手册.txt", "更换滤芯时，请使用型号 AX-200B 的滤芯。", metadata='{"年": 2024}', title="手册"
    )
    response = await api.search("AX-200B 滤芯")
    assert response.status_code == 200
    body = response.json()
    assert body.keys() == {
        "search_id",
        "passages",
        "timings_ms",
        "warnings",
        "completeness",
        "corpus_revision",
        "explanation",
    }
    assert body["timings_ms"].keys() == {"embed_ms", "retrieve_ms", "expand_ms", "rerank_ms", "total_ms"}
    assert body["warnings"] == []
    (passage,) = body["passages"]
    assert passage.keys() == PASSAGE_FIELDS
    assert (passage["rank"], passage["document_id"], passage["source"]) == (1, document_id, "手册.txt")
    assert (passage["collection"], passage["title"], passage["metadata"]) == ("default", "手册", {"年": 2024})
    text = (await api.http.get(f"/v1/documents/{document_id}/text")).json()["text"]
    assert text[passage["start"] : passage["end"]] == passage["content"]
    assert [passage["content"][start:end] for start, end in passage["highlights"]] == ["滤芯", "AX-200B", "滤芯"]
    (hit,) = passage["hits"]
    assert hit.keys() == HIT_FIELDS
    assert hit["highlights"] == passage["highlights"]
    assert (hit["vector_rank"], hit["fts_rank"]) == (1, 1)
    assert hit["rrf_score"] == passage["rrf_score"] == pytest.approx(100 / 61)
    chunks = (await api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert passage["chunk_id"] == chunks["parents"][0]["chunk_id"]
    assert hit["chunk_id"] == chunks["children"][0]["chunk_id"]


async def test_a_weight_of_zero_skips_its_leg(api: Api, embedder: HashEmbedder) -> None:
    await api.put("手册.txt", "更换滤芯时，请使用型号 AX-200B 的滤芯。")
    embedder.calls.clear()
    (hit,) = (await api.search("滤芯", **KEYWORD_ONLY)).json()["passages"][0]["hits"]
    assert (hit["vector_rank"], hit["vector_distance"], hit["fts_rank"]) == (None, None, 1)
    assert embedder.calls == []
    (hit,) = (await api.search("滤芯", **VECTOR_ONLY)).json()["passages"][0]["hits"]
    assert (hit["vector_rank"], hit["fts_rank"], hit["fts_score"]) == (1, None, None)
    refused = await api.search("滤芯", vector_weight=0, fts_weight=0)
    assert (refused.status_code, problem(refused)["code"]) == (422, "invalid_input")


async def test_collections_and_filters_restrict(api: Api) -> None:
    first = await api.put("甲.txt", "休假制度说明。", collection="人事", metadata='{"年": 2023}')
    await api.put("乙.txt", "休假制度说明。", collection="财务", metadata='{"年": 2024}')
    created = (await api.http.get(f"/v1/documents/{first}")).json()["created_at"]

    async def sources(**options: Any) -> set[str]:
        response = await api.search("休假制度", **options)
        assert response.status_code == 200, response.text
        return {passage["source"] for passage in response.json()["passages"]}

    assert await sources() == {"甲.txt", "乙.txt"}
    assert await sources(collections=["人事"]) == {"甲.txt"}
    assert await sources(collections=["人事", "财务"]) == {"甲.txt", "乙.txt"}
    assert await sources(collections=[]) == set()
    assert await sources(filters={"document_ids": [first]}) == {"甲.txt"}
    assert await sources(filters={"document_ids": []}) == set()
    assert await sources(filters={"sources": [".\\甲.txt"]}) == {"甲.txt"}
    assert await sources(filters={"media_types": ["image/png"]}) == set()
    assert await sources(filters={"metadata": {"年": {"$gte": 2024}}}) == {"乙.txt"}
    assert await sources(filters={"created_from": created, "updated_from": created}) == {"甲.txt", "乙.txt"}
    assert await sources(filters={"created_before": created}) == set()
    assert await sources(collections=["人事"], filters={"metadata": {"年": 2024}}) == set()
    missing = await api.search("休假", collections=["人事", "法务"])
    assert (missing.status_code, problem(missing)["code"]) == (404, "collection_not_found")
    assert problem(missing)["details"] == {"missing": ["法务"]}


@pytest.mark.case("BR-049")
async def test_punctuation_in_a_query_is_no_syntax(api: Api) -> None:
    """BR-049"""
    given = case("BR-049")
    await api.put("a.txt", given.input["document"])
    for query in given.input["queries"]:
        for options in ({}, KEYWORD_ONLY):
            response = await api.search(query, **options)
            assert response.status_code == 200, (query, options)
    for query in given.expected["must_find_for"]:
        assert await api.found(query, **KEYWORD_ONLY) == [given.input["document"]], query


@pytest.mark.case("BR-050")
async def test_a_query_cannot_escape_its_filter(api: Api) -> None:
    """BR-050"""
    given = case("BR-050").input
    for position, document in enumerate(given["documents"]):
        await api.put(f"{position}.txt", document["text"], metadata=json.dumps(document["metadata"]))
    for query in given["queries"]:
        for options in ({}, KEYWORD_ONLY):
            response = await api.search(query, filters={"metadata": given["filter"]}, **options)
            assert response.status_code == 200
            assert all(passage["metadata"] == given["filter"] for passage in response.json()["passages"])
    assert await api.found("制度", filters={"metadata": given["filter"]}) == ["人事部门的休假制度。"]


@pytest.mark.case("BR-051")
async def test_a_query_of_punctuation_matches_nothing_by_keyword(api: Api) -> None:
    """BR-051"""
    given = case("BR-051")
    for position, text in enumerate(given.input["documents"]):
        await api.put(f"{position}.txt", text)
    for query in given.input["queries"]:
        assert (await api.search(query)).status_code == 200
        found = await api.found(query, **KEYWORD_ONLY)
        assert len(found) <= given.expected["keyword_only_max"].get(query, 1), query


@pytest.mark.case("BR-067")
@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u3000"])
async def test_a_blank_query_is_refused(api: Api, embedder: HashEmbedder, query: str) -> None:
    """BR-067"""
    response = await api.search(query)
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_input")
    assert embedder.calls == []


@pytest.mark.case("BR-068")
async def test_extreme_numbers_of_passages(api: Api) -> None:
    """BR-068"""
    for number in range(case("BR-068").input["documents"]):
        await api.put(f"{number}.txt", f"水泵第 {number} 章。")
    counts = {}
    for top_n in case("BR-068").input["top_n"]:
        for options in ({}, KEYWORD_ONLY, VECTOR_ONLY):
            response = await api.search("水泵", top_n=top_n, **options)
            counts.setdefault(top_n, set()).add(
                len(response.json()["passages"]) if response.status_code == 200 else response.status_code
            )
    assert counts == {0: {422}, -1: {422}, 1: {1}, 7: {7}, 8: {7}, 1000: {422}, 1_000_000: {422}}
    assert "100" in problem(await api.search("水泵", top_n=1000))["message"]


@pytest.mark.case("BR-070")
async def test_filters_are_no_sql(api: Api) -> None:
    """BR-070"""
    given = case("BR-070").input
    for position, metadata in enumerate(given["documents_metadata"]):
        await api.put(f"{position}.txt", "同一段文字。", metadata=json.dumps(metadata))
    for filter_ in given["filters"]:
        response = await api.search("文字", filters={"metadata": filter_})
        assert response.status_code in {200, 422}
        assert response.status_code == 422 or response.json()["passages"] == []
    assert await api.total() == len(given["documents_metadata"])


@pytest.mark.case("BR-071")
async def test_a_very_long_query(api: Api, embedder: HashEmbedder) -> None:
    """BR-071"""
    await api.put("a.txt", "保修期为三年。")
    embedder.calls.clear()
    response = await api.search("保修期多长时间？" * 12_500)
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")
    assert "5000" in problem(response)["message"]
    assert embedder.calls == []
    longest = await api.search("保修期多长时间？" * 625)
    assert longest.status_code == 200
    assert len(longest.json()["passages"]) == 1


REFUSED: dict[str, dict[str, Any]] = {
    "no query": {},
    "unknown field": {"query": "水", "topN": 3},
    "unknown filter": {"query": "水", "filters": {"tags": ["a"]}},
    "query is a number": {"query": 7},
    "query is null": {"query": None},
    "query is a list": {"query": ["水"]},
    "top_n is a text": {"query": "水", "top_n": "5"},
    "top_n is true": {"query": "水", "top_n": True},
    "top_n is a fraction": {"query": "水", "top_n": 1.5},
    "top_n is huge": {"query": "水", "top_n": 10**30},
    "candidates is zero": {"query": "水", "candidates": 0},
    "candidates beyond": {"query": "水", "candidates": 1001},
    "weight below zero": {"query": "水", "vector_weight": -0.1},
    "weight beyond": {"query": "水", "fts_weight": 1001},
    "rrf_k is zero": {"query": "水", "rrf_k": 0},
    "rrf_k beyond": {"query": "水", "rrf_k": 10_001},
    "rerank is a text": {"query": "水", "rerank": "yes"},
    "similarity beyond": {"query": "水", "min_vector_similarity": 1.01},
    "similarity is a text": {"query": "水", "min_vector_similarity": "0.8"},
    "rerank score is a text": {"query": "水", "min_rerank_score": "0.5"},
    "collections is a text": {"query": "水", "collections": "default"},
    "collections is long": {"query": "水", "collections": ["a"] * 1001},
    "document id": {"query": "水", "filters": {"document_ids": ["42"]}},
    "time without a zone": {"query": "水", "filters": {"created_from": "2024-01-01T00:00:00"}},
    "no time": {"query": "水", "filters": {"created_from": "昨天"}},
    "filters is a list": {"query": "水", "filters": []},
    "metadata is a list": {"query": "水", "filters": {"metadata": [1]}},
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_wrong_search_is_refused_with_its_place(refusing_api: Api, name: str) -> None:
    response = await refusing_api.http.post("/v1/search", json=REFUSED[name])
    error = problem(response)
    assert (response.status_code, error["code"], error["retryable"]) == (422, "invalid_request", False)
    assert error["details"]["problems"]
    for place in error["details"]["problems"]:
        assert place.keys() == {"place", "message"}
        assert place["place"] in error["message"]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"a": {"$regex": "x"}}, "unknown operator $regex"),
        ({"$nor": []}, "unknown operator"),
        ({"a": {"$in": "x"}}, "must be a list"),
        ({"a": "x\0"}, "cannot store"),
        ({"a.": 1}, "must not be empty"),
        ({"a": {"b": 1}}, "use dots"),
    ],
)
async def test_a_filter_outside_the_grammar_is_refused(refusing_api: Api, metadata: dict[str, Any], words: str) -> None:
    response = await refusing_api.search("水", filters={"metadata": metadata})
    assert (response.status_code, problem(response)["code"]) == (422, "invalid_filter")
    assert words in problem(response)["message"]


async def test_times_at_the_ends_of_the_calendar_are_no_trouble(refusing_api: Api) -> None:
    for moment in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00", "2024-02-30T00:00:00Z"):
        response = await refusing_api.search("水", filters={"created_before": moment, "updated_from": moment})
        assert response.status_code in {200, 422}, response.text


async def test_more_passages_than_candidates_raise_the_candidates(api: Api) -> None:
    """One document whose every parent matches: 60 passages asked for are 60 passages, by either leg alone."""
    parents = ["".join(f"第{number}章的水泵说明，编号{number}。" for _ in range(70)) for number in range(70)]
    document_id = await api.put("水泵.txt", "\n".join(parents))
    chunks = (await api.http.get(f"/v1/documents/{document_id}/chunks")).json()
    assert len(chunks["parents"]) >= 60
    assert len({UUID(parent["chunk_id"]) for parent in chunks["parents"]}) == len(chunks["parents"])
    for options in (KEYWORD_ONLY, VECTOR_ONLY):
        children_seen = (await api.search("水泵", top_n=60, candidates=1000, **options)).json()["passages"]
        assert len(children_seen) == 60
