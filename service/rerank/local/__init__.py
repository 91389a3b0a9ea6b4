"""The reranker that comes with Fuzi: a small model over what the search has found out anyway. No download, no calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np

from service.rerank.local.features import FEATURES, features
from service.rerank.local.reasons import look, reasons
from service.rerank.local.trees import Trees, read_trees
from service.rerank.protocol import Reranker
from service.types import Passage

MODEL = "model.txt"
"""Beside this file: what `service.evaluate.train` wrote. docs/reranker.md is its card."""


class LocalReranker(Reranker):
    """Scores passages by a model of trees over `FEATURES`; the model is read at the first search.

    Scores order the passages of one search. They mean nothing across searches: most features compare its passages.
    """

    async def rerank(
        self, query: str, passages: Sequence[Passage], top_n: int, *, explain: bool = False
    ) -> list[Passage]:
        """See ``Reranker``. Equal scores keep the given order."""
        return await asyncio.to_thread(rank, query, passages, top_n, explain=explain)

    async def close(self) -> None:
        """Nothing to let go of."""


def rank(query: str, passages: Sequence[Passage], top_n: int, *, explain: bool = False) -> list[Passage]:
    """The best ``top_n`` passages, best first, with their ``rerank_score``; the same input gives the same order.

    With ``explain`` they have ``rerank_reasons``.
    """
    if not passages:
        return []
    rows = features(query, passages)
    scores = model().scores(rows)
    best_first = np.argsort(-scores, kind="stable")[:top_n]
    ranked = [replace(passages[at], rerank_score=float(scores[at])) for at in best_first]
    if not explain:
        return ranked
    shares, _mean = model().contributions(rows[best_first])
    seen = look(rows, passages)
    return [
        replace(passage, rerank_reasons=reasons(seen[at], share))
        for passage, at, share in zip(ranked, best_first, shares, strict=True)
    ]


@cache
def model() -> Trees:
    """The shipped model."""
    trees = read_trees((files(__package__) / MODEL).read_text(encoding="utf-8"))
    if trees.features != FEATURES:
        raise ValueError(f"{MODEL} was trained for other features than this code has; train it again")
    return trees
