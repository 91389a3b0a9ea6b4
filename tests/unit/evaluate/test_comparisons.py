"""Comparing kept results, on results whose answer is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.errors import InvalidInput, NotFound
from service.evaluate.figures.measures import METRICS, measure
from service.evaluate.kept.compare import compare
from service.evaluate.kept.folder import find, keep, kept, read_result

RNG = np.random.default_rng(3)


def result(
    ranks: list[int | None], *, name: str = "set", stages: tuple[str, ...] = ("rrf",), **more: Any
) -> dict[str, Any]:
    """A kept result in which the answer to each question stands at a rank."""
    flags = [[rank == place for place in range(1, 11)] for rank in ranks]
    figures = measure(flags, [1] * len(ranks))
    questions = [
        {
            "id": f"q{number}",
            "text": f"question {number}",
            "stages": {
                stage: {"metrics": dict(zip(METRICS, row.tolist(), strict=True)), "first_rank": rank, "passages": []}
                for stage in stages
            },
        }
        for number, (rank, row) in enumerate(zip(ranks, figures, strict=True))
    ]
    return {
        "format": 1, "name": name, "created_at": "2024-06-01T10:15:00+00:00", "question_count": len(ranks),
        "questions_sha256": "x", "corpus": {"sha256": "y"}, "settings": {"search": {"rrf_k": 60}}, "model": {},
        "reranker": "none", "versions": {}, "stages": {stage: {} for stage in stages}, "questions": questions, **more,
    }  # fmt: skip


def test_equal_results_do_not_differ() -> None:
    ranks = [1, None, 3, 10]
    comparison = compare(result(ranks), result(ranks), seed=0)
    (stage,) = comparison.stages
    assert [found.p_value for found in stage.differences.values()] == [1] * len(METRICS)
    assert (stage.improved, stage.worsened, stage.changed, comparison.notices) == (0, 0, (), ())


def test_noise_is_told_from_a_shift() -> None:
    before = [int(rank) for rank in RNG.integers(2, 9, 120)]
    (unsure,) = compare(result(before), result(before[1:] + before[:1]), seed=0).stages
    (sure,) = compare(result(before), result([rank - 1 for rank in before]), seed=0).stages
    assert unsure.differences["ndcg@10"].p_value > 0.05
    assert sure.differences["mrr@10"].p_value < 0.001
    assert sure.differences["mrr@10"].low > 0
    assert (sure.improved, sure.worsened, sure.question_count) == (120, 0, 120)


def test_questions_that_changed_most_come_first() -> None:
    (stage,) = compare(result([1, 2, 1, 4, 5]), result([1, 1, None, 5, 5]), seed=0, shown=2).stages
    assert [(each.id, each.rank_before, each.rank_after) for each in stage.changed] == [("q2", 1, None), ("q1", 2, 1)]
    assert [each.change for each in stage.changed] == [-1, 0.5]


def test_only_questions_of_both_are_compared_and_that_is_said() -> None:
    comparison = compare(result([1, 2, 3]), result([1, 2]), seed=0)
    assert comparison.stages[0].question_count == 2
    assert comparison.notices == ("2 questions are in both results, of 3 and 2",)


def test_whatever_else_differs_is_named() -> None:
    after = result([1], corpus={"sha256": "z"}, settings={"search": {"rrf_k": 20}}, reranker="Local")
    assert compare(result([1]), after, seed=0).notices == (
        "the documents are not the same",
        "settings.search.rrf_k: 60 → 20",
        "reranker: none → Local",
    )


def test_stages_of_one_result_can_be_compared() -> None:
    both = result([1, 2], stages=("rrf", "rerank"))
    (stage,) = compare(both, both, seed=0, stages=("rrf", "rerank")).stages
    assert (stage.stage_before, stage.stage_after) == ("rrf", "rerank")
    with pytest.raises(InvalidInput, match="no stage fts, only rrf, rerank"):
        compare(both, both, seed=0, stages=("fts", None))


def test_what_has_nothing_in_common_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no question in common"):
        compare(result([]), result([1]), seed=0)
    with pytest.raises(InvalidInput, match="no stage in common"):
        compare(result([1]), result([1], stages=("fts",)), seed=0)


def test_results_are_kept_and_found_by_parts_of_their_names(tmp_path: Path) -> None:
    first = keep(tmp_path, result([1], name="law_dev"))
    second = keep(tmp_path, result([2], name="law_dev"))
    third = keep(tmp_path, result([3], name="我的 问题/1", created_at="2024-06-02T00:00:00+00:00"))
    assert [file.name for file in kept(tmp_path)] == [
        "20240601T101500-law_dev.json", "20240601T101500-law_dev-2.json", "20240602T000000-我的_问题_1.json",
    ]  # fmt: skip
    assert find(tmp_path, "20240601T101500-law_dev") == first
    assert find(tmp_path, "law_dev-2") == find(tmp_path, str(second)) == second
    assert find(tmp_path, "latest") == third
    assert read_result(third)["questions"][0]["stages"]["rrf"]["first_rank"] == 3
    with pytest.raises(NotFound, match="fuzi evaluate --list"):
        find(tmp_path, "nothing")


@pytest.mark.parametrize("content", ["", "[]", "{}", json.dumps({**result([1]), "format": 99})])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(InvalidInput):
        read_result(file)
