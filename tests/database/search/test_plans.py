"""The planner sees through the search functions: index scans in every plan, legs and filters that fold away.

Sequential scans are switched off: the tables of a test are small enough that reading them whole would be cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.conftest import Databases
from tests.database.chunk_rows import Child, Connection, collection, document, random_vector, search_connection

_CALL = """
    select * from rag.hybrid_search(
        query_text => %(text)s, query_embedding => %(vector)s, top_n => %(top_n)s, candidates => %(candidates)s,
        vector_weight => %(vector_weight)s, fts_weight => %(fts_weight)s, rrf_k => %(rrf_k)s,
        collection_ids => %(collection_ids)s::bigint[], document_ids => %(document_ids)s::uuid[])
"""
_HNSW = "Index Scan using child_chunk_embedding_hnsw"
_TOP_N = "Exec Method: TopNScanExecState"


@pytest.fixture(scope="module")
def filled(databases: Databases) -> Iterator[str]:
    """URL of a database with 600 chunks in two collections."""
    with databases.fresh() as dsn:
        with search_connection(dsn) as connection:
            for number, name in enumerate(("one", "two")):
                into = collection(connection, name)
                for part in range(3):
                    chunks = [Child(f"第{n}条 报销制度", random_vector(1000 * number + n)) for n in range(100)]
                    document(connection, into, f"{part}", [chunks])
            connection.execute("vacuum analyze rag.child_chunk")
        yield dsn


@pytest.fixture
def connection(filled: str) -> Iterator[Connection]:
    """A new connection that prefers indexes."""
    with search_connection(filled) as opened:
        opened.execute("set enable_seqscan = off")
        yield opened


def _arguments(connection: Connection, **changes: Any) -> dict[str, Any]:
    usual = {
        "text": "报销制度",
        "vector": random_vector(3),
        "top_n": 5,
        "candidates": 50,
        "vector_weight": 70.0,
        "fts_weight": 30.0,
        "rrf_k": 60,
        "collection_ids": None,
        "document_ids": None,
    }
    return {**usual, **changes}


def _plan(connection: Connection, **changes: Any) -> str:
    rows = connection.execute("explain (costs off) " + _CALL, _arguments(connection, **changes))  # type: ignore[arg-type]
    return "\n".join(row[0] for row in rows)


def _documents(connection: Connection, count: int, collection_id: int = 1) -> list[UUID]:
    query = "select id from rag.document where collection_id = %s order by id limit %s"
    rows = connection.execute(query, [collection_id, count])
    return [row[0] for row in rows]


def _asked_of_bm25(connection: Connection, collections: str, documents: str) -> tuple[Any, Any]:
    """The ids inside the query that the BM25 index answers; they must add nothing to the score.

    The plan does not show them: `rag.fts_query` makes the query when it is run.
    """
    arrays = [part if part == "null" else f"array{part}" for part in (collections, documents)]
    call = f"select rag.fts_query('报销制度', 'both', {arrays[0]}::bigint[], {arrays[1]}::uuid[])::text::json"
    row = connection.execute(call).fetchone()  # type: ignore[arg-type]
    assert row is not None
    found: dict[str, Any] = {}
    for needed in row[0]["boolean"]["must"]:
        if "score_adjusted" in needed:
            filtered = needed["score_adjusted"]
            assert filtered["score"] == {"Const": 0.0}
            found[filtered["field"]] = filtered["query"]["term_set"]["terms"]
    return found.get("collection_id"), found.get("document_id")


def test_both_index_scans_are_seen_inside_the_function(connection: Connection) -> None:
    plan = _plan(connection)
    assert _HNSW in plan
    assert _TOP_N in plan
    assert "TopN Order By: pdb.score() desc, id asc" in plan
    assert "TopN Limit: 100" in plan  # 50 more, until scores are rounded
    assert "Function Scan" not in plan
    assert "hybrid_search" not in plan
    # filters that are not given have folded away
    assert "IS NULL" not in plan
    assert "collection_id =" not in plan
    assert "document_id = ANY" not in plan


def test_the_plan_stays_the_same_after_ten_runs_on_one_connection(connection: Connection) -> None:
    connection.execute(
        "prepare search (text, vector, integer, integer, float8, float8, integer, bigint[], uuid[]) as"
        " select * from rag.hybrid_search($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    )
    vector = "[" + ",".join(str(number) for number in random_vector(3)) + "]"
    run = f"execute search ('报销制度', '{vector}', 5, 50, 70, 30, 60, null, null)"
    results = [connection.execute(run).fetchall() for _ in range(12)]  # type: ignore[arg-type]
    assert all(result == results[0] for result in results)
    assert len({row[0] for row in results[0]}) == 5
    plans = connection.execute("select generic_plans, custom_plans from pg_prepared_statements where name = 'search'")
    assert plans.fetchall() == [(0, 12)]
    plan = "\n".join(row[0] for row in connection.execute("explain (costs off) " + run))  # type: ignore[arg-type]
    assert _HNSW in plan
    assert _TOP_N in plan
    assert "IS NULL" not in plan


def test_a_generic_plan_gives_the_same_rows(connection: Connection) -> None:
    for changes in (
        {},
        {"collection_ids": [1]},
        {"document_ids": _documents(connection, 2)},
        {"document_ids": _documents(connection, 2, collection_id=2), "collection_ids": [2]},
        {"text": None},
        {"vector": None},
        {"vector_weight": 0.0},
        {"fts_weight": 0.0},
    ):
        arguments = _arguments(connection, **changes)
        connection.execute("set plan_cache_mode = force_custom_plan")
        custom = connection.execute(_CALL, arguments, prepare=True).fetchall()
        connection.execute("set plan_cache_mode = force_generic_plan")
        assert connection.execute(_CALL, arguments, prepare=True).fetchall() == custom
        assert custom


@pytest.mark.parametrize("changes", [{"vector_weight": 0.0}, {"vector": None}], ids=["weight 0", "no vector"])
def test_the_vector_leg_is_not_run_when_it_is_switched_off(connection: Connection, changes: dict[str, Any]) -> None:
    plan = _plan(connection, **changes)
    assert "hnsw" not in plan
    assert "embedding" not in plan
    assert "One-Time Filter: false" in plan
    assert _TOP_N in plan


@pytest.mark.parametrize("changes", [{"fts_weight": 0.0}, {"text": None}], ids=["weight 0", "no text"])
def test_the_fts_leg_is_not_run_when_it_is_switched_off(connection: Connection, changes: dict[str, Any]) -> None:
    plan = _plan(connection, **changes)
    assert "ParadeDB" not in plan
    assert "One-Time Filter: false" in plan
    assert _HNSW in plan


def test_collections_are_answered_by_the_indexes(connection: Connection) -> None:
    plan = _plan(connection, collection_ids=[1])
    assert plan.count("Custom Scan (ParadeDB Scan)") == 1
    assert _TOP_N in plan
    assert _asked_of_bm25(connection, "[1]", "null")[0] == [1]
    assert _HNSW in plan
    assert "Index Cond: (collection_id = ANY ('{1}'::bigint[]))" in plan


@pytest.mark.parametrize("collections", [None, [1]])
def test_documents_are_answered_by_the_indexes(connection: Connection, collections: list[int] | None) -> None:
    plan = _plan(connection, document_ids=_documents(connection, 2), collection_ids=collections)
    assert plan.count("Custom Scan (ParadeDB Scan)") == 1
    assert _TOP_N in plan
    (document,) = _documents(connection, 1)
    assert _asked_of_bm25(connection, "null", f"['{document}']") == (None, [str(document)])
    assert "document_id = ANY (" in plan
    assert "Index Cond: (" in plan


def test_a_long_list_of_documents_is_first_looked_for_among_the_best_rows(connection: Connection) -> None:
    short, long = (_plan(connection, document_ids=_documents(connection, 2) * times) for times in (100, 101))
    assert "TopN Limit: 1050" not in short
    assert "TopN Limit: 1050" in long
    assert long.count(_TOP_N) == 2


def test_few_eligible_chunks_are_compared_one_by_one_and_the_index_is_not_run(connection: Connection) -> None:
    arguments = _arguments(connection, collection_ids=[1])
    rows = connection.execute("explain (analyze, costs off, timing off) " + _CALL, arguments)  # type: ignore[arg-type]
    lines = [row[0] for row in rows]
    (scan,) = [line for line in lines if _HNSW in line]
    assert "never executed" in scan


def test_a_count_of_the_caller_leaves_nothing_to_count(connection: Connection) -> None:
    call = "explain (costs off) select * from rag.vector_candidates(%s, 50, %s, eligible_chunks => %s)"
    few, many = (
        "\n".join(row[0] for row in connection.execute(call, [random_vector(3), [1], count]).fetchall())  # type: ignore[arg-type]
        for count in (300, 20_001)
    )
    assert _HNSW not in few
    assert _HNSW in many
    assert few.count("on child_chunk") == many.count("on child_chunk") - 1 == 1
