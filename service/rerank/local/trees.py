"""Regression trees of a LightGBM model file, evaluated for many rows at once.

Importing LightGBM itself takes 1.9 s and 100 MB, for a model of some hundred small trees. What comes out is exactly
what LightGBM computes: the same comparisons, and leaves added in the same order, all in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_NUMERICAL_WITHOUT_MISSING = {"0", "2"}
"""Decision types of plain comparisons; the second one says which way a missing value would go, if there were any."""

_MOST_LEAVES = 64
"""Bits of the number in which a tree's leaves are struck out."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Nodes of all trees, each tree padded to the largest; arrays have shape ``[tree_count, node_count]``.

    ``left`` and ``right`` are nodes of the same tree, or ``~leaf`` below 0. The leaves of a tree have places from left
    to right: ``value_at`` has the value at each place, and ``struck_out``, ``[node_count, tree_count]``, for each node
    the places that stay after a no, one bit each.
    """

    features: tuple[str, ...]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    leaf_value: NDArray[np.float64]
    leaf_count: NDArray[np.float64]
    depth: int
    struck_out: NDArray[np.uint64]
    value_at: NDArray[np.float64]

    def scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of the leaves that each row falls into: ``[row_count, feature_count]`` → ``[row_count]``. No NaN.

        All questions of all trees are asked at once. A no strikes out the leaves on the left of its node; of what is
        left over in a tree, the leftmost leaf is the one the row falls into (Lucchese et al., "QuickScorer", 2015).
        """
        node_count, _ = self.struck_out.shape
        left_over = np.full((len(rows), len(self.feature)), ~np.uint64(0))
        for node in range(node_count):
            is_no = rows[:, self.feature[:, node]] > self.threshold[:, node]
            left_over &= np.where(is_no, self.struck_out[node], ~np.uint64(0))
        lowest = left_over & (~left_over + np.uint64(1))
        place = np.log2(lowest.astype(np.float64)).astype(np.int64)  # exact for powers of two
        # cumsum adds from left to right; sum would not
        return np.cumsum(self.value_at[np.arange(len(self.feature)), place], axis=1)[:, -1]

    def contributions(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """What each feature adds to the scores, ``[row_count, feature_count]``, and the mean score in training.

        The sum of a row and that mean are its score. On a row's way through a tree the mean leaf that training rows
        reach from the node changes with each answer; the feature that was asked gets the change (Saabas, "Interpreting
        random forests", 2014). Exact Shapley values would share it out over the order of the questions, too.
        """
        means, tree = self._means(), np.arange(len(self.feature))
        at = np.arange(len(rows))[:, np.newaxis]
        shares = np.zeros((len(rows), len(self.features)))
        node = np.zeros((len(rows), len(self.feature)), dtype=np.int64)
        here = np.broadcast_to(means[:, 0], node.shape)
        for _ in range(self.depth):
            asked, node = self._step(rows, node)
            after = np.where(node < 0, self.leaf_value[tree, ~node], means[tree, np.maximum(node, 0)])
            np.add.at(shares, (at, asked), after - here)  # 0 for a row that is in its leaf
            here = after
        return shares, float(means[:, 0].sum())

    def _step(self, rows: NDArray[np.float64], node: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The features that are asked, and the next nodes, both ``[row_count, tree_count]``; leaves stay."""
        tree, at = np.arange(len(self.feature)), np.arange(len(rows))[:, np.newaxis]
        inner = np.maximum(node, 0)
        asked = self.feature[tree, inner]
        goes_left = rows[at, asked] <= self.threshold[tree, inner]
        return asked, np.where(node < 0, node, np.where(goes_left, self.left[tree, inner], self.right[tree, inner]))

    def _means(self) -> NDArray[np.float64]:
        """Mean leaf of the training rows that pass a node, ``[tree_count, node_count]``."""
        tree = np.arange(len(self.feature))
        counts, sums = np.zeros(self.left.shape), np.zeros(self.left.shape)
        for node in reversed(range(self.left.shape[1])):  # a node stands before those below it
            for below in (self.left[:, node], self.right[:, node]):
                leaf, inner = ~np.minimum(below, -1), np.maximum(below, 0)
                count = np.where(below < 0, self.leaf_count[tree, leaf], counts[tree, inner])
                value = np.where(below < 0, self.leaf_value[tree, leaf] * count, sums[tree, inner])
                counts[:, node] += count
                sums[:, node] += value
        return sums / np.maximum(counts, 1)


def read_trees(text: str) -> Trees:
    """Read a model that `lightgbm.Booster.save_model` wrote.

    Raises:
        ValueError: it is none, or has categorical features, missing values or linear leaves.
    """
    header, *parts = text.split("\nTree=")
    trees = [_values(part) for part in parts]
    if not trees or any(tree.get("is_linear", "0") != "0" or int(tree["num_leaves"]) < 2 for tree in trees):
        raise ValueError("this is no LightGBM model of plain trees")
    if any(not set(tree["decision_type"].split()) <= _NUMERICAL_WITHOUT_MISSING for tree in trees):
        raise ValueError("the model has categorical features or missing values")
    left, right = (_table(trees, name, -1).astype(np.int64) for name in ("left_child", "right_child"))
    leaf_value = _table(trees, "leaf_value", 0)
    if leaf_value.shape[1] > _MOST_LEAVES:
        raise ValueError(f"the model has trees of more than {_MOST_LEAVES} leaves")
    struck_out, value_at = _places(left, right, leaf_value)
    return Trees(
        features=tuple(_values(header)["feature_names"].split()),
        feature=_table(trees, "split_feature", 0).astype(np.int64),
        threshold=_table(trees, "threshold", 0),
        left=left,
        right=right,
        leaf_value=leaf_value,
        leaf_count=_table(trees, "leaf_count", 0),
        depth=left.shape[1],
        struck_out=struck_out,
        value_at=value_at,
    )


def _places(
    left: NDArray[np.int64], right: NDArray[np.int64], leaf_value: NDArray[np.float64]
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """``struck_out`` and ``value_at`` of `Trees`; nodes that only fill up a tree strike out nothing."""
    stays = np.full(left.T.shape, ~np.uint64(0))
    values = np.zeros(leaf_value.shape)

    def walk(tree: int, node: int, place: int) -> int:
        """Give places to the leaves below a node, from ``place`` on; returns the next one."""
        if node < 0:
            values[tree, place] = leaf_value[tree, ~node]
            return place + 1
        middle = walk(tree, int(left[tree, node]), place)
        stays[node, tree] = ~np.uint64((1 << middle) - (1 << place))
        return walk(tree, int(right[tree, node]), middle)

    for tree in range(len(left)):
        walk(tree, 0, 0)
    return stays, values


def _values(part: str) -> dict[str, str]:
    """The ``name=value`` lines up to the first blank line."""
    lines = part.split("\n\n", 1)[0].splitlines()
    return {name: value for name, equals, value in (line.partition("=") for line in lines) if equals}


def _table(trees: list[dict[str, str]], name: str, filling: float) -> NDArray[np.float64]:
    rows = [[float(value) for value in tree[name].split()] for tree in trees]
    table = np.full((len(rows), max(map(len, rows))), filling, dtype=np.float64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table
