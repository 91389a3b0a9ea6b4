"""What the BM25 index holds of a text: normalised like the queries, without punctuation, in words and in pairs."""

from __future__ import annotations

import sys
import unicodedata
from uuid import UUID

import pytest

from service.query_terms import HAN, normalise, terms
from tests.cases import case
from tests.database.chunk_rows import Child, Connection, collection, document

_EXPRESSIONS = "select rag.search_words(%(text)s), rag.search_characters(%(text)s), rag.query_characters(%(text)s)"


def _expressions(connection: Connection, text: str) -> tuple[str, str, str]:
    row = connection.execute(_EXPRESSIONS, {"text": text}).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def _found(connection: Connection, query: str) -> int:
    row = connection.execute("select count(*) from rag.fts_candidates(%s, 50)", [query]).fetchone()
    assert row is not None
    return int(row[0])


def _write(connection: Connection, *texts: str) -> UUID:
    return document(connection, collection(connection, "texts"), "a", [[Child(text) for text in texts]]).document_id


def test_sql_and_python_simplify_every_character_alike(connection: Connection) -> None:
    characters = [chr(code) for code in range(0x3007, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    text = "".join(c for c in characters if unicodedata.category(c) == "Lo" and unicodedata.normalize("NFKC", c) == c)
    row = connection.execute("select rag.simplified(%s)", [text]).fetchone()
    assert row is not None
    assert row[0] == normalise(text)


@pytest.mark.parametrize(
    ("text", "words", "characters"),
    [
        ("ＰｙｔｈｏｎＡＰＩ使用指南２０２４版。", "PythonAPI Python API使用指南2024版 ", " 使用指南 版 "),
        ("《機器學習》，第①章", " 机器学习 第1章", " 机器学习 第 章"),
        ("C++ 与 C#：3%、a@b.cn、AX-200B、v2.3.", "C++ 与 C# 3% a@b.cn AX-200B v2.3 ", " 与 "),
        ("a + b - c / d", "a b c d", " "),
        ("？！……——「」 \t😀\ue000", " ", " "),
        ("⽤⼾🎉手册", "用户 手册", "用户 手册"),
    ],
)
def test_texts(connection: Connection, text: str, words: str, characters: str) -> None:
    assert _expressions(connection, text)[:2] == (words, characters)


def test_pairs_with_particles_are_not_looked_for(connection: Connection) -> None:
    assert _expressions(connection, "什么是公司的和解？")[2].split() == ["什", "公司", "和解"]


def test_the_pairs_in_the_index_are_those_of_terms(connection: Connection) -> None:
    text = "《機器學習》的API v2：第①章，人𠮷𠮷"
    row = connection.execute(
        "select rag.search_characters(%s)::pdb.ngram(2, 2, 'trim=true', 'remove_short=5')::text[]", [text]
    ).fetchone()
    assert row is not None
    pairs = [term for term in terms(text) if len(term) == 2 and all(c >= "\u3007" for c in term)]
    assert HAN
    assert [token for token in row[0] if len(token) == 2] == pairs


@pytest.mark.case("BR-056")
def test_full_width_forms_are_found_by_half_width_words(connection: Connection) -> None:
    given = case("BR-056")
    _write(connection, given.input["document"])
    found = {query: _found(connection, query) for query in given.expected["found_for"]}
    assert found == dict.fromkeys(("python", "2024", "使用指南"), 1)
    assert [_found(connection, query) for query in ("pythonapi", "ＡＰＩ", "PythonAPI")] == [1, 1, 1]
    stored = connection.execute("select content from rag.child_chunk").fetchone()
    assert stored == (given.input["document"],)


@pytest.mark.case("BR-051")
def test_punctuation_is_no_word_even_where_the_caller_left_it_in(connection: Connection) -> None:
    given = case("BR-051")
    _write(connection, *given.input["documents"])
    assert {query: _found(connection, query) for query in given.expected["keyword_only_max"]} == dict.fromkeys(
        given.expected["keyword_only_max"], 0
    )
    assert _found(connection, "正常？") == 1


@pytest.mark.case("BR-055")
def test_a_word_is_found_inside_what_jieba_cuts_otherwise(connection: Connection) -> None:
    given = case("BR-055")
    _write(connection, given.input["document"], "研究生命起源")
    assert [_found(connection, query) for query in given.input["queries"]] == [1, 1, 1, 1]
    # jieba: 研究生 | 研究 | 生命 | 起源; the pair 命起 is in no word
    assert _found(connection, "命起") == 1


def test_traditional_and_simplified_find_each_other_in_words_and_pairs(connection: Connection) -> None:
    _write(connection, "機器學習的應用", "机器学习的应用")
    rows = connection.execute("select fts_score from rag.fts_candidates('機器學習', 9)").fetchall()
    assert rows == connection.execute("select fts_score from rag.fts_candidates('机器学习', 9)").fetchall()
    assert len(rows) == 2
    assert rows[0] == rows[1]
