"""``rag.hybrid_search``: weighted reciprocal rank fusion and the collapse to parent chunks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import case
from tests.database.chunk_rows import Child, Connection, Written, collection, document, random_vector, unit_vector

type Row = dict[str, Any]

_COLUMNS = (
    "parent_rank",
    "parent_id",
    "parent_rrf_score",
    "child_id",
    "vector_rank",
    "vector_distance",
    "fts_rank",
    "fts_score",
    "rrf_score",
)


def _search(connection: Connection, text: str | None, vector: Any, **more: Any) -> list[Row]:
    arguments = {"query_text": text, "query_embedding": vector, **more}
    given = ", ".join(f"{name} => %({name})s" for name in arguments)
    cursor = connection.execute(f"select * from rag.hybrid_search({given})", arguments)  # type: ignore[arg-type]
    assert cursor.description is not None
    assert tuple(column.name for column in cursor.description) == _COLUMNS
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cursor]


def _one_each(connection: Connection, into: int, **children: Child) -> dict[int, str]:
    """Write each child as a document of its own; returns the names by child id."""
    return {document(connection, into, name, [[child]]).child_ids[0][0]: name for name, child in children.items()}


@pytest.mark.case("BR-059")
def test_weights_and_ranks_give_the_published_numbers(connection: Connection) -> None:
    facts = case("BR-059")
    # vector order A, B, C; keyword order C, B, D: the shorter the text around the word, the better the score
    names = _one_each(
        connection,
        collection(connection, "c"),
        A=Child("甲乙丙丁。", unit_vector(1)),
        B=Child("关键词，还有别的话要说。", unit_vector(2)),
        C=Child("关键词。", unit_vector(3)),
        D=Child("关键词，还有别的许多许多许多话要在这里慢慢地说给大家听一听。", unit_vector(80)),
    )
    rows = _search(
        connection, "关键词", unit_vector(0), candidates=3, top_n=10, vector_weight=0.7, fts_weight=0.3, rrf_k=60
    )
    assert [names[row["child_id"]] for row in rows] == facts.expected["order"]
    scores = {names[row["child_id"]]: row["rrf_score"] for row in rows}
    assert scores == pytest.approx(facts.expected["scores_rank_from_1"], abs=1e-6)
    legs = {names[row["child_id"]]: (row["vector_rank"], row["fts_rank"]) for row in rows}
    assert legs == {"A": (1, None), "B": (2, 2), "C": (3, 1), "D": (None, 3)}


@pytest.mark.case("BR-060")
def test_a_child_of_both_legs_is_one_row(connection: Connection) -> None:
    _one_each(connection, collection(connection, "c"), a=Child("关键词", unit_vector(0)))
    (row,) = _search(connection, "关键词", unit_vector(0), vector_weight=0.7, fts_weight=0.3)
    assert (row["vector_rank"], row["fts_rank"], row["parent_rank"]) == (1, 1, 1)
    assert row["rrf_score"] == row["parent_rrf_score"] == pytest.approx(case("BR-060").expected["score"], abs=1e-7)


@pytest.mark.case("BR-061")
def test_equal_texts_of_different_documents_stay_apart(connection: Connection) -> None:
    texts = [entry["text"] for entry in case("BR-061").input["documents"]]
    into = collection(connection, "c")
    written = [document(connection, into, f"s{n}", [[Child(text, unit_vector(0))]]) for n, text in enumerate(texts)]
    rows = _search(connection, "保修期", unit_vector(0), top_n=10)
    assert [row["parent_id"] for row in rows] == [one.parent_ids[0] for one in written]


@pytest.mark.case("BR-062")
def test_parents_come_in_the_order_of_their_best_child(connection: Connection) -> None:
    into = collection(connection, "c")
    far = [Child("别的", unit_vector(85))]
    first, second, third = (
        document(connection, into, "P1", [[Child("甲", unit_vector(2)), *far]]),
        document(connection, into, "P2", [[Child("乙", unit_vector(3)), Child("丙", unit_vector(1)), *far]]),
        document(connection, into, "P3", [[*far, Child("丁", unit_vector(4))]]),
    )
    rows = _search(connection, None, unit_vector(0), candidates=4, top_n=3)
    assert [(row["parent_rank"], row["child_id"]) for row in rows] == [
        (1, second.child_ids[0][1]),
        (1, second.child_ids[0][0]),
        (2, first.child_ids[0][0]),
        (3, third.child_ids[0][1]),
    ]
    assert [row["vector_rank"] for row in rows] == [1, 3, 2, 4]
    assert [row["parent_rrf_score"] for row in rows] == pytest.approx([70 / 61, 70 / 61, 70 / 62, 70 / 64])


def test_top_n_counts_parents_and_all_their_candidates_come(connection: Connection) -> None:
    into = collection(connection, "c")
    written = [
        document(connection, into, f"s{n}", [[Child("词", unit_vector(10 * n + m)) for m in range(4)]])
        for n in range(7)
    ]
    for top_n in (1, 2, 7, 100):
        rows = _search(connection, None, unit_vector(0), top_n=top_n)
        wanted = written[:top_n]
        assert [row["parent_id"] for row in rows] == [one.parent_ids[0] for one in wanted for _ in range(4)]
        assert [row["child_id"] for row in rows] == [id_ for one in wanted for id_ in one.child_ids[0]]
        assert [row["parent_rank"] for row in rows] == [n for n in range(1, len(wanted) + 1) for _ in range(4)]
    assert _search(connection, None, unit_vector(0), top_n=0) == []


def test_equal_parents_are_ordered_by_id_and_cut_there(connection: Connection) -> None:
    """A rank of one leg against the same rank of the other, with equal weights: the scores tie."""
    into = collection(connection, "c")
    by_text = document(connection, into, "text", [[Child("关键词", unit_vector(80))]])
    by_vector = document(connection, into, "vector", [[Child("别的", unit_vector(0))]])
    for top_n, wanted in ((2, [by_text, by_vector]), (1, [by_text])):
        rows = _search(connection, "关键词", unit_vector(0), candidates=1, top_n=top_n, vector_weight=50, fts_weight=50)
        assert [row["parent_id"] for row in rows] == [one.parent_ids[0] for one in wanted]
        assert {row["rrf_score"] for row in rows} == {50 / 61}


@pytest.mark.case("BR-053")
def test_the_same_search_gives_the_same_rows(connection: Connection) -> None:
    into = collection(connection, "c")
    for n in range(30):
        document(connection, into, f"s{n}", [[Child("统一的报销制度。", random_vector(1))]])
    first = _search(connection, "报销制度", random_vector(1), top_n=10)
    assert [row["parent_rank"] for row in first] == list(range(1, 11))
    assert all(_search(connection, "报销制度", random_vector(1), top_n=10) == first for _ in range(20))


@pytest.fixture
def two(connection: Connection) -> tuple[Written, Written]:
    """One document that only the words find, one that is much nearer by its vector."""
    into = collection(connection, "c")
    by_text = document(connection, into, "text", [[Child("关键词", unit_vector(80))]])
    return by_text, document(connection, into, "vector", [[Child("别的", unit_vector(1))]])


@pytest.mark.parametrize(
    ("text", "vector", "weights"),
    [("关键词", unit_vector(0), {"vector_weight": 0}), ("关键词", None, {})],
    ids=["weight 0", "no vector"],
)
def test_only_the_fts_leg(
    connection: Connection, two: tuple[Written, Written], text: str, vector: Any, weights: dict[str, float]
) -> None:
    rows = _search(connection, text, vector, **weights)
    assert [(row["child_id"], row["vector_rank"], row["fts_rank"]) for row in rows] == [
        (two[0].child_ids[0][0], None, 1)
    ]
    assert rows[0]["vector_distance"] is None


@pytest.mark.parametrize(
    ("text", "weights"),
    [("关键词", {"fts_weight": 0}), (None, {}), ("", {}), ("　\n", {}), ("无此词语", {})],
    ids=["weight 0", "no text", "empty", "blank", "nothing found"],
)
def test_only_the_vector_leg(
    connection: Connection, two: tuple[Written, Written], text: str | None, weights: dict[str, float]
) -> None:
    rows = _search(connection, text, unit_vector(0), **weights)
    assert [row["child_id"] for row in rows] == [two[1].child_ids[0][0], two[0].child_ids[0][0]]
    assert all(row["fts_rank"] is None and row["fts_score"] is None for row in rows)


def test_no_leg_no_rows(connection: Connection, two: tuple[Written, Written]) -> None:
    assert two
    assert _search(connection, None, None) == []
    assert _search(connection, "关键词", unit_vector(0), vector_weight=0, fts_weight=0) == []


def test_filters_reach_both_legs(connection: Connection) -> None:
    one, other = collection(connection, "one"), collection(connection, "other")
    a = document(connection, one, "a", [[Child("制度甲", unit_vector(1))]])
    b = document(connection, one, "b", [[Child("制度乙", unit_vector(2))]])
    c = document(connection, other, "c", [[Child("制度丙", unit_vector(3))]])

    def found(**filters: Any) -> set[int]:
        rows = _search(connection, "制度", unit_vector(0), **filters)
        assert all(row["vector_rank"] and row["fts_rank"] for row in rows)
        return {row["child_id"] for row in rows}

    a_id, b_id, c_id = (written.child_ids[0][0] for written in (a, b, c))
    assert found() == {a_id, b_id, c_id}
    assert found(collection_ids=[other]) == {c_id}
    assert found(document_ids=[b.document_id, c.document_id]) == {b_id, c_id}
    assert found(document_ids=[b.document_id, c.document_id], collection_ids=[one]) == {b_id}


def test_it_may_be_called_for_each_row_of_a_query(connection: Connection, two: tuple[Written, Written]) -> None:
    """Arguments from a table: slower, never an error, never the answer to another row's question."""
    (by_text,), (by_vector,) = two[0].child_ids[0], two[1].child_ids[0]
    texts = ["关键词", "别的", "不存在", "别的", "关键词"]
    rows = connection.execute(
        "select q.number, h.child_id from unnest(%s::text[]) with ordinality as q (text, number)"
        " cross join lateral rag.hybrid_search(q.text, null) as h order by q.number",
        [texts],
    ).fetchall()
    assert rows == [(1, by_text), (2, by_vector), (4, by_vector), (5, by_text)]
    vectors = connection.execute(
        "select c.id, h.child_id, h.parent_rank from rag.child_chunk as c"
        " cross join lateral"
        " rag.hybrid_search(null, c.embedding, top_n => 1, document_ids => array[c.document_id]) as h order by c.id"
    ).fetchall()
    assert vectors == [(by_text, by_text, 1), (by_vector, by_vector, 1)]
    by_document = connection.execute(
        "select d.source, (select count(*) from rag.fts_candidates('关键词', 10, null, array[d.id]))"
        " from rag.document as d order by d.source"
    ).fetchall()
    assert by_document == [("text", 1), ("vector", 0)]


def test_its_arguments_may_be_subqueries(connection: Connection, two: tuple[Written, Written]) -> None:
    like_this = connection.execute(
        "select child_id from rag.hybrid_search("
        " (select content from rag.child_chunk where id = %(id)s),"
        " (select embedding from rag.child_chunk where id = %(id)s),"
        " document_ids => array(select id from rag.document))",
        {"id": two[1].child_ids[0][0]},
    ).fetchall()
    assert [row[0] for row in like_this] == [two[1].child_ids[0][0], two[0].child_ids[0][0]]
