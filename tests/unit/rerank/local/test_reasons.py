"""Reasons are few, come in the order of their weight, and are true of the passage."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.rerank.local import LocalReranker, model, rank
from service.rerank.local.features import FEATURES, features
from service.rerank.local.reasons import look, reasons
from service.rerank.pool import PooledReranker
from service.types import Passage
from tests.unit.rerank.local.made_passages import passage

QUESTION = "出差住宿标准是多少？"
_ANSWER = "出差住宿标准为每天三百五十元，超出部分自理。"
_OTHER = "员工应当遵守公司的考勤制度，按时上下班。"


def world() -> list[Passage]:
    """Seven passages about other things, then the answer, with a second chunk nearly as close as its first."""
    others = [passage(_OTHER, at, distances=(0.15 + at / 100,), document=at) for at in range(1, 8)]
    answer = passage(
        _ANSWER, 8, distances=(0.12, 0.13), fts_score=9.0, document=8, heading_path=("住宿标准",), title="出差"
    )
    return [*others, answer]


def shares_of(**given_shares: float) -> np.ndarray:
    return np.array([given_shares.get(name, 0.0) for name in FEATURES])


async def test_only_when_asked_and_only_for_passages_with_a_score() -> None:
    reranker = PooledReranker(LocalReranker(), 5)
    told = await reranker.rerank(QUESTION, world(), 8, explain=True)
    assert [bool(each.rerank_reasons) for each in told] == [True] * 5 + [False] * 3
    plain = await reranker.rerank(QUESTION, world(), 8)
    assert all(each.rerank_reasons == () for each in plain)
    assert plain == [replace(each, rerank_reasons=()) for each in told]


def test_the_answer_says_what_brought_it_up() -> None:
    best = rank(QUESTION, world(), 3, explain=True)[0]
    assert best.content == _ANSWER
    assert 1 <= len(best.rerank_reasons) <= 4
    assert {"no passage is closer in meaning", "covers most of the question"} & set(best.rerank_reasons)


def test_the_weightiest_comes_first_and_small_ones_are_left_out() -> None:
    seen = look(features(QUESTION, world()), world())[-1]
    shares = shares_of(heading_coverage=0.3, similarity=0.9, rrf_share=-0.5, title_coverage=0.01)
    assert reasons(seen, shares) == (
        "no passage is closer in meaning",
        "against it: place 8 in the fused order",
        "words of the question in the heading",
    )
    assert reasons(seen, shares_of(second_similarity=1.0)) == ("its second chunk is close as well",)
    assert reasons(seen, shares_of()) == ()


_TRUE: dict[str, Callable[[list[Passage], Passage], object]] = {
    "no passage is closer in meaning": lambda all_, one: one.child_distances[0] == min(nearest(all_)),
    "closer in meaning than the average": lambda all_, one: one.child_distances[0] < np.mean(nearest(all_)),
    "farther in meaning than the average": lambda all_, one: one.child_distances[0] > np.mean(nearest(all_)),
    "others are closer in meaning": lambda all_, one: one.child_distances[0] > min(nearest(all_)),
    "its second chunk is close as well": lambda all_, one: one.child_distances[1] < np.mean(nearest(all_)),
    "its other chunks are not close": lambda all_, one: one.child_distances[1] >= np.mean(nearest(all_)),
    "all words of the question": lambda _, one: "甲" in one.content and "乙" in one.content,
    "no word of the question in the heading": lambda _, one: not set("甲乙") & set("".join(one.heading_path)),
    "words of the question in the heading": lambda _, one: set("甲乙") & set("".join(one.heading_path)),
    "all words of the question in the heading": lambda _, one: {"甲", "乙"} <= set("".join(one.heading_path)),
    "no word of the question in the title": lambda _, one: not set("甲乙") & set(one.title or ""),
    "not among the hits by words": lambda _, one: one.hits[0].candidate.fts_rank is None,
    "the only passage of its document that was found": lambda all_, one: (
        sum(each.document_id == one.document_id for each in all_) == 1
    ),
}


def nearest(passages: list[Passage]) -> list[float]:
    return [each.child_distances[0] for each in passages]


_TEXT = st.text(st.sampled_from("甲乙丙丁 "), max_size=6)
_PASSAGES = st.lists(
    st.builds(
        passage,
        _TEXT,
        st.integers(1, 40),
        distances=st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.5]), min_size=1, max_size=3),
        fts_score=st.sampled_from([None, 1.0, 7.0]),
        document=st.integers(0, 3),
        heading_path=st.lists(_TEXT, max_size=2).map(tuple),
        title=_TEXT,
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("sign", [1, -1])
@given(passages=_PASSAGES, topic=st.sampled_from(FEATURES))
def test_whatever_the_model_made_of_it_reasons_are_true(passages: list[Passage], topic: str, sign: int) -> None:
    for one, seen in zip(passages, look(features("甲，乙", passages), passages), strict=True):
        for reason in reasons(seen, shares_of(**{topic: sign * 1.0})):
            assert reason.startswith("against it: ") == (sign < 0)
            said = reason.removeprefix("against it: ")
            place = re.fullmatch(r"place (\d+) in the fused order", said)
            if place:
                assert passages.index(one) + 1 == int(place[1]) or passages.count(one) > 1
            if said in _TRUE:
                assert _TRUE[said](passages, one), said


def test_reasons_follow_the_contributions_of_the_shipped_model() -> None:
    passages = world()
    rows = features(QUESTION, passages)
    shares, _mean = model().contributions(rows)
    told = {each.parent_id: each.rerank_reasons for each in rank(QUESTION, passages, 8, explain=True)}
    for one, seen, share in zip(passages, look(rows, passages), shares, strict=True):
        assert told[one.parent_id] == reasons(seen, share)
