"""``rag.vector_candidates``: order, ties, filters that never return too few."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from tests.database.chunk_rows import Child, Connection, collection, document, random_vector, unit_vector

_SCALE = Path(__file__).parents[3] / "docs" / "scale.md"
type Row = tuple[int, int, int, float]


def _candidates(
    connection: Connection,
    vector: Any,
    candidates: int,
    collection_ids: list[int] | None = None,
    document_ids: list[UUID] | None = None,
) -> list[Row]:
    return connection.execute(
        "select child_id, parent_id, vector_rank, vector_distance"
        " from rag.vector_candidates(%s, %s, %s::bigint[], %s::uuid[])",
        [vector, candidates, collection_ids, document_ids],
    ).fetchall()


def test_rows_come_by_distance_with_ranks_from_one(connection: Connection) -> None:
    written = document(
        connection, collection(connection, "c"), "s", [[Child("远", unit_vector(60)), Child("近", unit_vector(10))]]
    )
    far, near = written.child_ids[0]
    rows = _candidates(connection, unit_vector(0), 10)
    assert [row[:3] for row in rows] == [(near, written.parent_ids[0], 1), (far, written.parent_ids[0], 2)]
    assert [row[3] for row in rows] == pytest.approx([1 - np.cos(np.radians(10)), 0.5], abs=1e-6)


def test_equal_distances_are_ordered_by_id_and_cut_there(connection: Connection) -> None:
    into = collection(connection, "c")
    same = random_vector(1)
    ids = [document(connection, into, f"s{n}", [[Child("同", same)]]).child_ids[0][0] for n in range(40)]
    connection.execute("set enable_seqscan = off")
    for _ in range(3):
        assert [row[0] for row in _candidates(connection, same, 15)] == ids[:15]
    assert [row[0] for row in _candidates(connection, same, 100)] == ids


def test_no_vector_no_rows(connection: Connection) -> None:
    document(connection, collection(connection, "c"), "s", [[Child("甲")]])
    assert _candidates(connection, None, 10) == []
    assert _candidates(connection, unit_vector(0), 0) == []


@pytest.mark.case("BR-046")
@pytest.mark.parametrize("iterative", ["relaxed_order", "strict_order", "off"])
@pytest.mark.parametrize("seqscan", ["on", "off"])
def test_a_narrow_filter_returns_all_that_is_eligible(connection: Connection, iterative: str, seqscan: str) -> None:
    into = collection(connection, "c")
    near = [[Child("近", unit_vector(10 + 20 * n / 1500))] for n in range(1500)]
    document(connection, into, "near", near)
    mine = [
        document(connection, into, f"法务{n}", [[Child("远", unit_vector(50 + n))]], metadata='{"dept": "法务"}')
        for n in range(5)
    ]
    document(connection, into, "far", [[Child("更远", unit_vector(70))] for _ in range(495)])
    connection.execute("analyze rag.child_chunk")
    connection.execute(f"set hnsw.iterative_scan = {iterative}")  # type: ignore[arg-type]
    connection.execute(f"set enable_seqscan = {seqscan}")  # type: ignore[arg-type]
    found = connection.execute('select id from rag.document where metadata @> \'{"dept": "法务"}\'').fetchall()
    rows = _candidates(connection, unit_vector(0), 10, None, [row[0] for row in found])
    assert [row[0] for row in rows] == [written.child_ids[0][0] for written in mine]
    assert [row[2] for row in rows] == [1, 2, 3, 4, 5]


def test_more_rows_than_ef_search_come_even_without_an_iterative_scan(connection: Connection) -> None:
    children = [[Child("文", random_vector(n))] for n in range(300)]
    document(connection, collection(connection, "c"), "s", children)
    connection.execute("set hnsw.iterative_scan = off")
    connection.execute("set hnsw.ef_search = 40")
    connection.execute("set enable_seqscan = off")
    exact = connection.execute(
        "select array_agg(id) from (select id from rag.child_chunk order by (embedding <=> %s) + 0, id limit 120) as e",
        [random_vector(7)],
    ).fetchone()
    assert exact == ([row[0] for row in _candidates(connection, random_vector(7), 120)],)


def test_filters_hold_together_and_alone(connection: Connection) -> None:
    first, second = collection(connection, "one"), collection(connection, "two")
    a = document(connection, first, "a", [[Child("甲", unit_vector(1))]])
    b = document(connection, first, "b", [[Child("乙", unit_vector(2))]])
    c = document(connection, second, "c", [[Child("丙", unit_vector(3))]])

    def found(collection_ids: list[int] | None, document_ids: list[UUID] | None) -> list[int]:
        return [row[0] for row in _candidates(connection, unit_vector(0), 10, collection_ids, document_ids)]

    (a_id,), (b_id,), (c_id,) = a.child_ids[0], b.child_ids[0], c.child_ids[0]
    assert found(None, None) == [a_id, b_id, c_id]
    assert found([second], None) == [c_id]
    assert found(None, [b.document_id, c.document_id]) == [b_id, c_id]
    assert found([first], [b.document_id, c.document_id]) == [b_id]
    assert found([], None) == found(None, []) == found(None, [uuid4()]) == found([first], [c.document_id]) == []


def test_many_eligible_rows_come_from_the_index_and_agree_with_comparing(connection: Connection) -> None:
    """Above 20,000 eligible chunks the index answers; its recall of the nearest ten must be (nearly) whole."""
    into, other = collection(connection, "c"), collection(connection, "d")
    connection.execute("drop index rag.child_chunk_embedding_hnsw")
    document(connection, into, "s", [[Child("文", random_vector(n, 384)) for n in range(4_000)]])
    document(connection, other, "t", [[Child("文", random_vector(20_000 + n)) for n in range(500)]])
    connection.execute(
        "create index child_chunk_embedding_hnsw on rag.child_chunk using hnsw (embedding vector_cosine_ops)"
    )
    connection.execute("analyze rag.child_chunk")
    query = random_vector(5)
    ask = """
        select child_id, vector_rank from rag.vector_candidates(
            %s, 10, collection_ids => %s, eligible_chunks => %s)
    """
    compared, brought = (connection.execute(ask, [query, [into], count]).fetchall() for count in (20_000, 20_001))
    exact = connection.execute(
        "select id from rag.child_chunk where collection_id = %s order by (embedding <=> %s) + 0, id limit 10",
        [into, query],
    ).fetchall()
    assert [row[0] for row in compared] == [row[0] for row in exact]
    assert [row[1] for row in brought] == list(range(1, 11))
    assert brought[0][0] == exact[0][0]
    assert len({row[0] for row in brought} & {row[0] for row in exact}) >= 8


@pytest.mark.parametrize("counted", [0, 3, 20_000, 20_001, 10**9])
def test_a_wrong_count_costs_time_and_no_rows(connection: Connection, counted: int) -> None:
    into = collection(connection, "c")
    ids = document(connection, into, "s", [[Child("文", unit_vector(n)) for n in range(60)]]).child_ids[0]
    rows = connection.execute(
        "select child_id from rag.vector_candidates(%s, 50, array[%s::bigint], eligible_chunks => %s)",
        [unit_vector(0), into, counted],
    ).fetchall()
    assert [row[0] for row in rows] == list(ids[:50])


def test_an_index_is_built_anew_with_other_options_beside_searches(connection: Connection) -> None:
    """The statements of docs/scale.md."""
    ids = document(connection, collection(connection, "c"), "s", [[Child("文", unit_vector(n)) for n in range(60)]])
    statements = re.search(r"```sql\n(alter index .*?)```", _SCALE.read_text(encoding="utf-8"), re.DOTALL)
    assert statements
    changed, rebuilt, _ = statements[1].split(";")
    connection.execute(changed)  # type: ignore[arg-type]
    assert [row[0] for row in _candidates(connection, unit_vector(0), 50)] == list(ids.child_ids[0][:50])
    connection.execute(rebuilt)  # type: ignore[arg-type]
    options = connection.execute(
        "select reloptions, indisvalid from pg_class join pg_index on indexrelid = oid"
        " where oid = 'rag.child_chunk_embedding_hnsw'::regclass"
    ).fetchall()
    assert options == [(["m=24", "ef_construction=200"], True)]
    assert [row[0] for row in _candidates(connection, unit_vector(0), 50)] == list(ids.child_ids[0][:50])
