"""Our evaluation of a model file is LightGBM's, bit for bit."""

from __future__ import annotations

from importlib.resources import files

import lightgbm
import numpy as np
import pytest

from service.rerank.local import MODEL, model
from service.rerank.local.features import FEATURES
from service.rerank.local.trees import read_trees


def trained(rows: np.ndarray, categories: list[int] | None = None, **parameters: object) -> lightgbm.Booster:
    labels = (rows[:, 0] % 3 + 0.3 * np.sin(9 * rows[:, 1]) > 0.5).astype(float)
    settings = {"objective": "binary", "num_leaves": 9, "num_threads": 1, "verbose": -1, **parameters}
    data = lightgbm.Dataset(rows, labels, categorical_feature=categories or "auto")
    return lightgbm.train(settings, data, 40)


def test_scores_equal_those_of_lightgbm() -> None:
    rows = np.random.default_rng(1).random((2000, 4))
    booster = trained(rows)
    trees = read_trees(booster.model_to_string())
    asked = np.vstack([rows, trees.threshold.ravel()[:400].reshape(-1, 4), np.zeros((1, 4)), -rows[:50]])
    assert np.array_equal(trees.scores(asked), booster.predict(asked, raw_score=True))
    assert trees.scores(asked[:0]).shape == (0,)


def test_the_shipped_model_scores_as_lightgbm_does() -> None:
    text = (files("service.rerank.local") / MODEL).read_text(encoding="utf-8")
    rows = np.random.default_rng(2).normal(0, 1, (500, len(FEATURES)))
    booster = lightgbm.Booster(model_str=text)
    assert tuple(booster.feature_name()) == FEATURES
    assert np.array_equal(model().scores(rows), booster.predict(rows, raw_score=True))


@pytest.mark.parametrize("other", [{"categories": [0]}, {"linear_tree": True}, {"zero_as_missing": True}], ids=str)
def test_other_kinds_of_trees_are_refused(other: dict[str, object]) -> None:
    rows = np.random.default_rng(3).integers(0, 5, (2000, 4)).astype(float)
    rows[:, 1] /= 4
    with pytest.raises(ValueError, match=r"the model has|no LightGBM model"):
        read_trees(trained(rows, **other).model_to_string())  # type: ignore[arg-type]


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="no LightGBM model"):
        read_trees("")


def test_contributions_and_the_mean_are_the_score() -> None:
    rows = np.random.default_rng(4).normal(0, 1, (300, len(FEATURES)))
    shares, mean = model().contributions(rows)
    assert shares.shape == rows.shape
    assert shares.sum(axis=1) + mean == pytest.approx(model().scores(rows), abs=1e-12)
    assert np.count_nonzero(np.ptp(shares, axis=0)) > 15


def test_with_one_question_a_tree_they_are_the_shapley_values() -> None:
    """Where order cannot matter; LightGBM computes exact ones, its mean in the last column."""
    rows = np.random.default_rng(5).random((1000, 4))
    booster = trained(rows, num_leaves=2)
    shares, mean = read_trees(booster.model_to_string()).contributions(rows)
    exact = booster.predict(rows, pred_contrib=True)
    assert shares == pytest.approx(exact[:, :-1], abs=1e-9)
    assert mean == pytest.approx(exact[0, -1], abs=1e-9)


def test_the_mean_is_that_of_the_training_rows() -> None:
    rows = np.random.default_rng(6).random((2000, 4))
    trees = read_trees(trained(rows).model_to_string())
    shares, mean = trees.contributions(rows)
    assert mean == pytest.approx(trees.scores(rows).mean(), abs=1e-9)
    assert shares.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.1)
