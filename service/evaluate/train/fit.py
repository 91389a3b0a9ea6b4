"""Examples → model, and what it is worth: cross-validated by question, and on data sets it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.evaluate.run.ask import Stage
from service.evaluate.train.gather import Example, Examples
from service.rerank.local.features import EITHER_WAY, FEATURES
from service.rerank.local.trees import read_trees

DEPTH = 10
"""Of MRR."""

_ROUNDS = 200
_PARAMETERS = {
    "objective": "lambdarank",
    "label_gain": [0, 1],
    "lambdarank_truncation_level": 15,
    "learning_rate": 0.05,
    "num_leaves": 7,
    "min_data_in_leaf": 50,
    "lambda_l2": 5,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "monotone_constraints": [0 if name in EITHER_WAY else 1 for name in FEATURES],
    # one thread and row-wise histograms, so that the same examples give the same model on every machine
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
_WEIGHT_OF_ONE_LEG = 0.1
"""A search that lacks a leg is rare."""


def fit(sets: Sequence[Examples], seed: int = 0) -> str:
    """Train on data sets, each of equal weight whatever its size; returns the model as LightGBM writes it."""
    import lightgbm  # noqa: PLC0415 - two seconds, and only trainers install it

    rows, good, sizes, weights = [], [], [], []
    for examples in sets:
        for stage, asked in examples.items():
            useful = [each for each in asked if each.good.any() and not each.good.all()]
            share = (1.0 if stage is Stage.RRF else _WEIGHT_OF_ONE_LEG) * 1000 / max(1, len(asked))
            rows += [each.rows for each in useful]
            good += [each.good for each in useful]
            sizes += [len(each.good) for each in useful]
            weights += [np.full(len(each.good), share) for each in useful]
    data = lightgbm.Dataset(
        np.vstack(rows),
        np.concatenate(good).astype(np.float64),
        group=sizes,
        weight=np.concatenate(weights),
        feature_name=list(FEATURES),
        params={"verbose": -1},
    )
    model = lightgbm.train({**_PARAMETERS, "seed": seed}, data, _ROUNDS)
    return str(model.model_to_string())


def reciprocal_ranks(model: str | None, asked: Sequence[Example]) -> NDArray[np.float64]:
    """1 ÷ rank of the first good passage for each question, 0 beyond `DEPTH`; without a model in fused order."""
    trees = None if model is None else read_trees(model)
    found = np.zeros(len(asked))
    for at, example in enumerate(asked):
        order = np.arange(len(example.good))
        if trees is not None and len(order):
            order = np.argsort(-trees.scores(example.rows), kind="stable")
        ranks = np.flatnonzero(example.good[order][:DEPTH])
        found[at] = 1 / (ranks[0] + 1) if len(ranks) else 0
    return found


def cross_validate(sets: Sequence[Examples], folds: int = 5, seed: int = 0) -> list[dict[Stage, NDArray[np.float64]]]:
    """Reciprocal ranks of each question of each set by a model that saw the other folds of all sets."""
    parts = [np.random.default_rng(seed).permutation(_count(examples)) % folds for examples in sets]
    found = [{stage: np.zeros(_count(examples)) for stage in examples} for examples in sets]
    for fold in range(folds):
        seen = [_only(examples, part != fold) for examples, part in zip(sets, parts, strict=True)]
        model = fit(seen, seed)
        for examples, part, ranks in zip(sets, parts, found, strict=True):
            for stage, asked in _only(examples, part == fold).items():
                ranks[stage][part == fold] = reciprocal_ranks(model, asked)
    return found


def _count(examples: Examples) -> int:
    return len(next(iter(examples.values())))


def _only(examples: Examples, chosen: NDArray[np.bool_]) -> Examples:
    return {
        stage: [each for each, wanted in zip(asked, chosen, strict=True) if wanted] for stage, asked in examples.items()
    }
