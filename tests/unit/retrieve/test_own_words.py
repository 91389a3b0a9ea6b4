"""Synonyms and ignored words change the text of the fts leg, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from service.config.collection import CollectionSettings, Synonyms
from service.retrieve.own_words import own_words, with_own_words

_GROUP = (Synonyms(words=("手机", "移动电话", "Mobile")),)
_ONE_WAY = (Synonyms(words=("kubernetes",), of=("k8s",)),)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("手机保修", "手机保修 移动电话 Mobile"),
        ("手機保修", "手機保修 移动电话 Mobile"),
        ("ＭＯＢＩＬＥ 保修", "ＭＯＢＩＬＥ 保修 手机 移动电话"),
        ("automobile", "automobile"),
        ("手机和移动电话", "手机和移动电话 Mobile"),
        ("电脑", "电脑"),
    ],
)
def test_each_word_of_a_group_finds_the_others(query: str, expected: str) -> None:
    assert with_own_words(query, [own_words(_GROUP, ())]) == expected


def test_one_way_synonyms_do_not_lead_back() -> None:
    assert with_own_words("K8S 部署", [own_words(_ONE_WAY, ())]) == "K8S 部署 kubernetes"
    assert with_own_words("kubernetes 部署", [own_words(_ONE_WAY, ())]) == "kubernetes 部署"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("请问公司差旅制度", "  差旅制度"),
        ("請問公司制度", "  制度"),
        ("公司章程有哪些", " 有哪些"),
        ("API and APIs", "  and apis"),
        ("报销", "报销"),
    ],
)
def test_ignored_words_are_cut_out_the_longest_first(query: str, expected: str) -> None:
    assert with_own_words(query, [own_words((), ("公司", "请问", "公司章程", "api"))]) == expected


@given(st.text(), st.lists(st.text(min_size=1), max_size=5))
def test_any_text_and_any_words(query: str, words: list[str]) -> None:
    ignored = with_own_words(query, [own_words((), words)])
    assert with_own_words(query, [own_words((), ())]) == query
    assert len(ignored) >= 0


@pytest.mark.parametrize(
    "settings",
    [
        {"synonyms": [{"words": ["alone"]}]},
        {"synonyms": [{"words": []}]},
        {"synonyms": [["a", "b"]]},
        {"ignore_words": [" "]},
        {"ignore_words": ["a\0"]},
        {"rrf_k": 0},
        {"candidates": "5"},
        {"vector_weight": 0, "fts_weight": 0},
        {"rrfk": 60},
    ],
)
def test_settings_that_say_nothing_sensible_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CollectionSettings.model_validate(settings)


def test_collections_searched_together_share_synonyms_and_ignore_what_all_of_them_ignore() -> None:
    one, other = own_words(_GROUP, ("公司", "請問")), own_words(_ONE_WAY, ("请问",))
    assert with_own_words("请问公司", [one, other]).split() == ["公司"]
    assert "kubernetes" in with_own_words("K8S", [one, other])
    assert with_own_words("请问公司", []) == "请问公司"
