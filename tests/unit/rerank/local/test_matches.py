"""Terms of a query in texts, counted all at once as one would count them one by one."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from service.query_terms import normalise, terms
from service.rerank.local.matches import Query, find

_TEXTS = st.text(st.sampled_from("报销制度标准 　,。\nab1+#Ｃ機𠮷😀"), max_size=60)


def counted(query: str, text: str) -> dict[str, int]:
    matches = find(Query.of(query), [text])
    return {term: int(count) for term, count in zip(Query.of(query).terms, matches.counts[0], strict=True)}


def test_pairs_of_han_characters_words_and_signs() -> None:
    assert counted("报销标准 C++ v2", "报销、报销标准；C++ 与 c 语言，V2 不是 v20") == {
        "报销": 2,
        "销标": 1,
        "标准": 1,
        "c++": 1,
        "v2": 1,
    }


def test_traditional_and_full_width_are_the_same() -> None:
    assert counted("機器学习ＡＢ", "机器學習 ab") == {"机器": 1, "器学": 1, "学习": 1, "ab": 1}


@settings(deadline=None)
@given(query=_TEXTS, texts=st.lists(_TEXTS, min_size=1, max_size=5))
def test_counts_are_those_of_the_terms_of_each_text(query: str, texts: list[str]) -> None:
    wanted, matches = Query.of(query), find(Query.of(query), texts)
    assert matches.lengths.tolist() == [len(normalise(text)) for text in texts]
    for row, text in zip(matches.counts, texts, strict=True):
        found = terms(text)
        for term, count in zip(wanted.terms, row, strict=True):
            if re.fullmatch("[^a-z0-9]{2,}|[a-z0-9]{2,}", term):
                assert count == found.count(term)
            else:
                assert count >= found.count(term), "a character alone in the query may stand anywhere"
    together = [find(wanted, [text]) for text in texts]
    assert np.array_equal(matches.counts, np.vstack([each.counts for each in together]))
    assert matches.runs.tolist() == [int(each.runs[0]) for each in together]


@settings(deadline=None)
@given(query=_TEXTS, text=_TEXTS)
def test_the_longest_run_is_one_of_pairs_that_the_query_has(query: str, text: str) -> None:
    asked, looked = " ".join(normalise(query).split()), normalise(text)
    pairs = {asked[at : at + 2] for at in range(len(asked) - 1)}
    longest = 0
    for start in range(len(looked)):
        end = start
        while end + 1 < len(looked) and looked[end : end + 2] in pairs:
            end += 1
        longest = max(longest, end - start + 1 if end > start else 0)
    assert find(Query.of(query), [text]).runs.tolist() == [longest]


def test_windows_hold_what_stands_close_together() -> None:
    query = Query.of("甲乙 丙丁")
    near, far = "甲乙" + "。" * 40 + "丙丁", "甲乙" + "。" * 200 + "丙丁"
    assert find(query, [near, far]).windows.all(axis=2).any(axis=1).tolist() == [True, False]
