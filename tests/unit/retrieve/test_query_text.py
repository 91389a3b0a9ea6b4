"""Query text for the fts leg: punctuation is no word."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieve.query_text import fts_query_text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("？？？", ""),
        ("。，！……", ""),
        ("区别 && 说明 || !其他", "区别 说明 其他"),
        ("C++ 与 C# 的区别", "C++ 与 C# 的区别"),
        ("title:(", "title"),
        ("AX-200B", "AX-200B"),
        ("a + b", "a b"),
        ("邮箱 user@x.com，v2.3.1 约 3.5%。", "邮箱 user@x.com v2.3.1 约 3.5%"),
        ("- 退货 -- 流程 -", "退货 流程"),
        ("ＰｙｔｈｏｎＡＰＩ", "PythonAPI"),
        ("保修期　多长时间？", "保修期 多长时间"),
    ],
)
def test_words(query: str, words: str) -> None:
    assert fts_query_text(query) == words


@given(st.text())
def test_any_text_gives_letters_digits_and_single_blanks(query: str) -> None:
    words = fts_query_text(query)
    assert words == " ".join(words.split())
    assert all(unicodedata.category(c)[0] in "LNM" or c in " +#&._%-@/" for c in words)
