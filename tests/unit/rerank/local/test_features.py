"""Features of passages: finite, comparable, and without traces of where they come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.rerank.local.features import FEATURES, features
from service.types import Passage
from tests.unit.rerank.local.made_passages import passage

_CONTENTS = st.lists(st.text(max_size=80), max_size=8)


def column(name: str, query: str, passages: list[Passage]) -> list[float]:
    return features(query, passages)[:, FEATURES.index(name)].tolist()


@settings(deadline=None)
@given(query=st.text(max_size=60), contents=_CONTENTS, vectors=st.booleans(), fts=st.booleans())
def test_any_text_has_finite_features(query: str, contents: list[str], vectors: bool, fts: bool) -> None:
    passages = [
        passage(text, at, distances=(0.1 * at, 0.3) if vectors else (), fts_score=1 / at if fts else None)
        for at, text in enumerate(contents, start=1)
    ]
    found = features(query, passages)
    assert found.shape == (len(passages), len(FEATURES))
    assert np.isfinite(found).all()


def test_another_scale_of_distances_and_scores_changes_nothing() -> None:
    passages = [passage("甲", at, distances=(0.1 * at, 0.5), fts_score=9.0 - at) for at in range(1, 6)]
    scaled = [
        replace(
            each,
            child_distances=tuple(0.7 + 0.01 * distance for distance in each.child_distances),
            rrf_score=each.rrf_score / 100,
            hits=tuple(
                replace(hit, candidate=replace(hit.candidate, fts_score=(hit.candidate.fts_score or 0) * 7))
                for hit in each.hits
            ),
        )
        for each in passages
    ]
    assert features("甲", scaled) == pytest.approx(features("甲", passages))


def test_the_place_in_the_document_and_its_name_change_nothing() -> None:
    passages = [passage("甲乙", at, document=at, start=1000 * at) for at in range(1, 4)]
    moved = [replace(each, start=each.start + 5000, end=each.end + 5000, source="x") for each in passages]
    assert np.array_equal(features("甲乙", moved), features("甲乙", passages))


def test_rare_terms_count_more_than_those_that_every_passage_has() -> None:
    passages = [passage(f"公司规定{more}", at) for at, more in enumerate(("出差", "", "", "", ""), start=1)]
    rare, *others = column("coverage", "公司规定 出差", passages)
    assert rare == pytest.approx(1)
    assert max(others) < 0.5


def test_neighbours_in_the_document_lend_their_match() -> None:
    passages = [
        passage("甲乙丙丁", 1, distances=(0.1,), start=0),
        passage("别的内容", 2, distances=(0.3,), start=6),
        passage("远处内容", 3, distances=(0.2,), start=900),
        passage("别的文档", 4, distances=(0.3,), document=1, start=6),
    ]
    coverage = column("neighbour_coverage", "甲乙丙丁", passages)
    assert coverage[1] == pytest.approx(1)
    assert coverage[2:] == [0, 0]
    similarity = column("neighbour_similarity", "甲乙丙丁", passages)
    assert similarity[1] > similarity[2] == similarity[3]


def test_headings_and_titles_are_looked_at() -> None:
    passages = [passage("正文", 1, heading_path=("住宿标准",)), passage("正文", 2, title="住宿标准")]
    assert column("heading_coverage", "住宿标准", passages) == pytest.approx([1, 0])
    assert column("title_coverage", "住宿标准", passages) == pytest.approx([0, 1])
