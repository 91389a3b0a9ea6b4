"""``rag.fts_candidates``: order, ties, filters outside the score, and texts that must never raise."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import case
from tests.conftest import Databases
from tests.database.chunk_rows import Child, Connection, Written, collection, document, search_connection

type Row = tuple[int, int, int, float]


def _candidates(
    connection: Connection,
    text: str | None,
    candidates: int = 50,
    collection_ids: list[int] | None = None,
    document_ids: list[UUID] | None = None,
) -> list[Row]:
    return connection.execute(
        "select child_id, parent_id, fts_rank, fts_score from rag.fts_candidates(%s, %s, %s::bigint[], %s::uuid[])",
        [text, candidates, collection_ids, document_ids],
    ).fetchall()


def _write(connection: Connection, into: int, *texts: str) -> list[Written]:
    return [document(connection, into, f"{into}/{number}", [[Child(text)]]) for number, text in enumerate(texts)]


def test_rows_come_by_score_with_ranks_from_one(connection: Connection) -> None:
    weak, strong, _ = _write(connection, collection(connection, "c"), "发票以及其他许多内容。", "发票发票。", "别的。")
    rows = _candidates(connection, "发票")
    assert [row[:3] for row in rows] == [
        (strong.child_ids[0][0], strong.parent_ids[0], 1),
        (weak.child_ids[0][0], weak.parent_ids[0], 2),
    ]
    assert rows[0][3] > rows[1][3] > 0


@pytest.mark.case("BR-053")
def test_equal_texts_are_ordered_by_id_however_they_were_written(connection: Connection) -> None:
    """Written in one statement each, they lie in several segments of the index."""
    into = collection(connection, "c")
    texts = case("BR-053").input["documents"]
    assert texts.startswith("30 documents")
    ids = [written.child_ids[0][0] for written in _write(connection, into, *["统一的报销制度。"] * 30)]
    for _ in range(20):
        rows = _candidates(connection, "报销制度")
        assert [row[0] for row in rows] == ids
        assert [row[2] for row in rows] == list(range(1, 31))
        assert len({row[3] for row in rows}) == 1
        assert [row[0] for row in _candidates(connection, "报销制度", 10)] == ids[:10]


@pytest.mark.case("BR-052")
def test_the_ids_decide_however_many_scores_are_equal(connection: Connection) -> None:
    """More than are looked at first: the index is asked again, in order of score and id."""
    (ids,) = document(connection, collection(connection, "c"), "a", [[Child("统一的报销制度。")] * 200]).child_ids
    for candidates in (1, 10, 149, 200):
        rows = _candidates(connection, "报销制度", candidates)
        assert [row[0] for row in rows] == list(ids[:candidates])
        assert [row[2] for row in rows] == list(range(1, candidates + 1))


def test_deleted_and_replaced_rows_are_gone_at_once(connection: Connection) -> None:
    into = collection(connection, "c")
    gone, _ = _write(connection, into, "独有词火龙果。", "普通内容。")
    assert len(_candidates(connection, "火龙果")) == 1
    connection.execute("delete from rag.document where id = %s", [gone.document_id])
    assert _candidates(connection, "火龙果") == []
    connection.execute("vacuum rag.child_chunk")
    assert _candidates(connection, "火龙果") == []
    assert connection.execute("select count(*) from rag.parent_chunk").fetchone() == (1,)


def test_dead_rows_take_no_place_among_the_candidates(connection: Connection) -> None:
    into = collection(connection, "c")
    for written in _write(connection, into, *["报销制度报销制度。"] * 30):
        connection.execute("delete from rag.document where id = %s", [written.document_id])
    alive = document(connection, into, "alive", [[Child(f"第{n}条报销制度以及许多别的内容。") for n in range(10)]])
    assert {row[0] for row in _candidates(connection, "报销制度", 10)} == set(alive.child_ids[0])


@pytest.mark.case("BR-058")
@pytest.mark.parametrize("count", [1, 250], ids=["few documents", "a long list"])
def test_a_filter_changes_neither_score_nor_order(connection: Connection, count: int) -> None:
    texts = [entry["text"] for entry in case("BR-058").input["documents"]]
    into, other = collection(connection, "c"), collection(connection, "d")
    first, second, third = _write(connection, into, *texts)
    _write(connection, other, "发票，另一处。")
    whole = {row[0]: row[3] for row in _candidates(connection, "发票")}
    more = [uuid4() for _ in range(count - 1)]
    for collections in (None, [into]):
        rows = _candidates(connection, "发票", 50, collections, [first.document_id, second.document_id, *more])
        assert [row[0] for row in rows] == [first.child_ids[0][0], second.child_ids[0][0]]
        assert [row[3] for row in rows] == [whole[row[0]] for row in rows]
        assert all(row[3] > 0 for row in rows)
    assert third.child_ids[0][0] in whole


def test_filters_hold_together_and_alone(connection: Connection) -> None:
    one, two = collection(connection, "one"), collection(connection, "two")
    a, b = _write(connection, one, "制度甲。", "制度乙。")
    (c,) = _write(connection, two, "制度丙。")

    def found(collection_ids: list[int | None] | None, document_ids: list[UUID | None] | None) -> set[int]:
        return {row[0] for row in _candidates(connection, "制度", 10, collection_ids, document_ids)}  # type: ignore[arg-type]

    a_id, b_id, c_id = (written.child_ids[0][0] for written in (a, b, c))
    assert found(None, None) == {a_id, b_id, c_id}
    assert found([two], None) == found([two, None], None) == {c_id}
    assert found(None, [b.document_id, c.document_id, None]) == {b_id, c_id}
    assert found([one], [b.document_id, c.document_id]) == {b_id}
    assert found([], None) == found(None, []) == found(None, [None]) == found([-1], None) == set()
    assert found(None, [uuid4()]) == found([one], [c.document_id]) == set()


def test_a_long_list_of_documents_returns_enough_when_the_best_rows_are_elsewhere(connection: Connection) -> None:
    """More than `candidates` + 1000 better rows lie outside: the index has to be asked again, with the list."""
    into = collection(connection, "c")
    document(connection, into, "best", [[Child("报销") for _ in range(1100)]])
    mine = _write(connection, into, *[f"报销制度第{n}条以及其他许多内容。" for n in range(220)])
    wanted = [written.document_id for written in mine]
    for collections in (None, [into]):
        rows = _candidates(connection, "报销", 50, collections, wanted)
        assert len(rows) == 50
        assert {row[0] for row in rows} <= {written.child_ids[0][0] for written in mine}


def test_a_collection_returns_enough_when_the_best_rows_are_elsewhere(connection: Connection) -> None:
    document(connection, collection(connection, "best"), "a", [[Child("报销") for _ in range(1100)]])
    mine = collection(connection, "mine")
    children = [Child(f"报销制度第{n}条以及其他许多内容。") for n in range(60)]
    (ids,) = document(connection, mine, "b", [children]).child_ids
    assert len(_candidates(connection, "报销", 50, [mine])) == 50
    assert {row[0] for row in _candidates(connection, "报销", 1000, [mine])} == set(ids)


def test_a_word_of_nearly_every_chunk_is_left_out_unless_it_is_all_there_is(connection: Connection) -> None:
    into = collection(connection, "c")
    _write(connection, into, "报销的标准。", "另外的事情。")
    assert len(_candidates(connection, "报销的")) == 1
    assert len(_candidates(connection, "的")) == 2


def test_words_and_pairs_are_looked_for_alone_or_add_up(connection: Connection) -> None:
    into = collection(connection, "c")
    _write(connection, into, "南京市长江大桥的检修。", "市长检查了大桥。", "AX-200 滤芯。")

    def scores(query: str, terms: str | None) -> dict[int, float]:
        rows = connection.execute(
            "select child_id, fts_score from rag.fts_candidates(%s, 10, fts_terms => %s)", [query, terms]
        )
        return dict(rows.fetchall())

    words, pairs, both = (scores("长江大桥 AX-200", terms) for terms in ("words", "pairs", "both"))
    assert both == scores("长江大桥 AX-200", None)
    assert len(words) > len(pairs) == 2
    for child, score in both.items():
        assert score == pytest.approx(words.get(child, 0) + pairs.get(child, 0), abs=0.0021)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="both, words or pairs"):
        scores("长江", "letters")


@pytest.mark.case("BR-055")
def test_words_inside_longer_words_are_found(connection: Connection) -> None:
    facts = case("BR-055")
    (written,) = _write(connection, collection(connection, "c"), facts.input["document"])
    for query in facts.input["queries"]:
        assert [row[0] for row in _candidates(connection, query)] == list(written.child_ids[0]), query


@pytest.mark.case("BR-056")
def test_full_width_letters_match_half_width_ones(connection: Connection) -> None:
    (written,) = _write(connection, collection(connection, "c"), case("BR-056").input["document"])
    # 「ＰｙｔｈｏｎＡＰＩ」 is one word, as PythonAPI would be: `python` alone does not find it
    for query in set(case("BR-056").expected["found_for"]) - {"python"} | {"pythonapi", "PYTHONAPI"}:
        assert [row[0] for row in _candidates(connection, query)] == list(written.child_ids[0]), query


def test_simplified_and_traditional_characters_match_each_other(connection: Connection) -> None:
    simplified, traditional = _write(connection, collection(connection, "c"), "机器学习入门。", "機器學習入門。")
    both = {simplified.child_ids[0][0], traditional.child_ids[0][0]}
    assert {row[0] for row in _candidates(connection, "機器學習")} == both
    assert {row[0] for row in _candidates(connection, "机器学习")} == both


@pytest.mark.case("BR-054")
def test_a_part_number_finds_its_own_document_first(connection: Connection) -> None:
    facts = case("BR-054").input
    first, *_ = _write(connection, collection(connection, "c"), *facts["documents"])
    assert _candidates(connection, facts["query"])[0][0] == first.child_ids[0][0]


@pytest.mark.case("BR-049", "BR-050")
@pytest.mark.parametrize("query", [*case("BR-049").input["queries"], *case("BR-050").input["queries"]])
def test_punctuation_is_no_query_language(connection: Connection, query: str) -> None:
    (written,) = _write(connection, collection(connection, "c"), case("BR-049").input["document"])
    rows = _candidates(connection, query)
    if "区别" in query or "说明" in query:
        assert [row[0] for row in rows] == list(written.child_ids[0])


@pytest.mark.parametrize("query", [None, "", " ", "\t\n", "　", "\u00a0", "\u200b"])
def test_blank_texts_return_nothing(connection: Connection, query: str | None) -> None:
    _write(connection, collection(connection, "c"), "内容 有 空格。", "　全角　空格　", "a b c")
    assert _candidates(connection, query) == []


@pytest.fixture(scope="module")
def one_connection(databases: Databases) -> Iterator[Connection]:
    """A connection for many examples."""
    with databases.fresh() as dsn, search_connection(dsn) as connection:
        _write(connection, collection(connection, "c"), "合同解除的条件。", "C++ 与 C# 的区别说明。")
        yield connection


_WORDS = [
    "合同",
    "解除",
    "条件",
    "违约金",
    "发票",
    "报销",
    "制度",
    "质量",
    "安全",
    "水泵",
    "检验",
    "保修",
    "API",
    "AX-200",
]


@pytest.fixture(scope="module")
def varied(databases: Databases) -> Iterator[tuple[Connection, list[int], list[UUID]]]:
    """900 chunks of few words, in several segments: many have equal scores. Their collections and documents."""
    dice = Random(3)
    with databases.fresh() as dsn, search_connection(dsn) as connection:
        collections = [collection(connection, name) for name in "abc"]
        documents = list[UUID]()
        for number in range(30):
            texts = ["，".join(dice.choices(_WORDS, k=dice.randint(1, 6))) + "的。" for _ in range(30)]
            into = collections[min(number % 7, 2)]
            written = document(connection, into, str(number), [[Child(text) for text in texts]])
            documents.append(written.document_id)
        yield connection, collections, documents


@given(data=st.data())
def test_what_is_found_are_the_first_of_all(
    varied: tuple[Connection, list[int], list[UUID]], data: st.DataObject
) -> None:
    connection, collections, documents = varied
    query = " ".join(data.draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8)))
    candidates = data.draw(st.integers(1, 120))
    collection_ids = data.draw(st.none() | st.lists(st.sampled_from(collections), max_size=2))
    document_ids = data.draw(st.none() | st.lists(st.sampled_from(documents), max_size=20))
    if document_ids and data.draw(st.booleans()):
        document_ids += [uuid4() for _ in range(200)]  # a long list goes another way
    every = connection.execute(
        "select f.child_id, f.fts_score, c.collection_id, c.document_id"
        " from rag.fts_candidates(%s, 10000) as f join rag.child_chunk as c on c.id = f.child_id order by f.fts_rank",
        [query],
    ).fetchall()
    passing = [
        (child, score)
        for child, score, of_collection, of_document in every
        if (collection_ids is None or of_collection in collection_ids)
        and (document_ids is None or of_document in document_ids)
    ]
    rows = _candidates(connection, query, candidates, collection_ids, document_ids)
    assert [(row[0], row[3]) for row in rows] == passing[:candidates]


@given(text=st.text(max_size=60).filter(lambda text: "\0" not in text))
def test_no_text_raises(one_connection: Connection, text: str) -> None:
    try:
        parameter = text.encode()
    except UnicodeEncodeError:  # a lone surrogate never reaches PostgreSQL
        return
    rows = _candidates(one_connection, parameter.decode())
    assert [row[2] for row in rows] == list(range(1, len(rows) + 1))


def test_a_nul_is_refused_by_the_driver_before_the_server(connection: Connection) -> None:
    with pytest.raises(psycopg.DataError, match="NUL"):
        _candidates(connection, "合\0同")
