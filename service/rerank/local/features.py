"""What the local reranker looks at: for each passage of one search the numbers of `FEATURES`.

All of them compare a passage with the other passages of the same search, or say which share of the query it covers. So
they mean the same for every embedding model, language and corpus: no distances or scores as they are, no lengths, no
places in a document. Without vectors, or without BM25 hits, the features of that leg are 0 for every passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from service.rerank.local.matches import Query, find
from service.types import Passage

FEATURES = (
    "rrf_share",
    "fused_rank",
    "vector_rank",
    "fts_rank",
    "fts_share",
    "similarity",
    "similarity_gap",
    "second_similarity",
    "mean_similarity",
    "coverage",
    "coverage_gap",
    "window_coverage",
    "window_coverage_gap",
    "bm25",
    "bm25_share",
    "run",
    "run_gap",
    "heading_coverage",
    "title_coverage",
    "document_rrf_share",
    "document_rrf_sum",
    "document_passages",
    "document_similarity",
    "neighbour_similarity",
    "neighbour_coverage",
)
"""Names of the columns. Of each, more speaks for a passage, except for those in `EITHER_WAY`."""

EITHER_WAY = frozenset(FEATURES[FEATURES.index("document_rrf_share") :])
"""What surrounds a passage may speak for it, or for its neighbour instead."""

_K1, _B = 1.2, 0.75
_NEAR = 10
"""Code points between two passages that follow each other in their document: blanks, or nothing."""

type Column = NDArray[np.float64]


def features(query: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
    """Features of the passages of one search, ``[passage_count, feature_count]``; finite, whatever the texts are."""
    if not passages:
        return np.zeros((0, len(FEATURES)))
    columns = [*_of_ranks(passages)]
    best, vectors = _of_distances(passages)
    columns += vectors
    coverage, texts = _of_texts(query, passages)
    columns += texts
    rrf = np.array([passage.rrf_score for passage in passages])
    columns += _of_documents(passages, rrf, best, coverage)
    return np.column_stack(columns)


def _of_ranks(passages: Sequence[Passage]) -> list[Column]:
    rrf = np.array([passage.rrf_score for passage in passages])
    candidates = [[hit.candidate for hit in passage.hits] for passage in passages]
    vector = [max((1 / c.vector_rank for c in found if c.vector_rank), default=0.0) for found in candidates]
    fts = [max((1 / c.fts_rank for c in found if c.fts_rank), default=0.0) for found in candidates]
    scores = np.array([max((c.fts_score for c in found if c.fts_score), default=0.0) for found in candidates])
    return [_share(rrf), 1 / np.arange(1, len(passages) + 1), np.array(vector), np.array(fts), _share(scores)]


def _of_distances(passages: Sequence[Passage]) -> tuple[Column, list[Column]]:
    """The best similarity, in standard deviations above that of the mean passage; the columns made of similarities."""
    if not all(passage.child_distances for passage in passages):
        nothing = np.zeros(len(passages))
        return nothing, [nothing] * 4
    means = [
        [-sum(near[:count]) / len(near[:count]) for count in (1, 2, 3)]
        for near in (passage.child_distances for passage in passages)
    ]
    best, *others = np.array(means).T
    scaled = _scaled(best, best)
    return scaled, [scaled, scaled - scaled.max(), *(_scaled(other, best) for other in others)]


def _of_texts(query: str, passages: Sequence[Passage]) -> tuple[Column, list[Column]]:
    """The part of the query's terms that a passage has, weighed by their rarity among the passages; the columns."""
    count, wanted = len(passages), Query.of(query)
    headings = ["\n".join(chain(p.heading_path, *(hit.inner_path for hit in p.hits))) for p in passages]
    titles = [passage.title or "" for passage in passages]
    matches = find(wanted, [*(passage.content for passage in passages), *headings, *titles])
    has = matches.counts > 0
    having = has[:count].sum(axis=0)
    rarity = np.log1p((count - having + 0.5) / (having + 0.5))
    weights = rarity / max(float(rarity.sum()), 1e-9)
    covered = has @ weights
    coverage, lengths = covered[:count], matches.lengths[:count]
    window = (matches.windows[:count] @ weights).max(axis=1)
    counts, norm = matches.counts[:count], _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0))
    bm25 = (counts * (_K1 + 1) / (counts + norm[:, np.newaxis])) @ weights
    run = matches.runs[:count] / max(wanted.length, 1)
    return coverage, [
        coverage,
        coverage - coverage.max(),
        window,
        window - window.max(),
        bm25,
        _share(bm25),
        run,
        run - run.max(),
        covered[count : 2 * count],
        covered[2 * count :],
    ]


def _of_documents(passages: Sequence[Passage], rrf: Column, best: Column, coverage: Column) -> list[Column]:
    """What the other passages of its document, and those before and after it there, say about a passage."""
    places: dict[UUID, list[int]] = {}
    for at, passage in enumerate(passages):
        places.setdefault(passage.document_id, []).append(at)
    groups = list(places.values())
    owner = np.zeros(len(passages), dtype=np.int64)
    for number, group in enumerate(groups):
        owner[group] = number
    best_rrf, best_similarity = np.zeros(len(groups)), np.full(len(groups), -np.inf)
    np.maximum.at(best_rrf, owner, rrf)
    np.maximum.at(best_similarity, owner, best)
    near_best, near_coverage = np.full(len(passages), best.min()), np.zeros(len(passages))
    for group in groups:
        for before, after in pairwise(sorted(group, key=lambda at: passages[at].start)):
            if passages[after].start - passages[before].end <= _NEAR:
                for here, there in ((before, after), (after, before)):
                    near_best[here] = max(near_best[here], best[there])
                    near_coverage[here] = max(near_coverage[here], coverage[there])
    return [
        _share(best_rrf)[owner],
        (np.bincount(owner, weights=rrf) / max(float(rrf.sum()), 1e-12))[owner],
        (np.bincount(owner) / len(passages))[owner],
        best_similarity[owner],
        near_best,
        near_coverage,
    ]


def _share(values: Column) -> Column:
    """Values of at least 0 as parts of the largest."""
    return values / max(float(values.max()), 1e-12)


def _scaled(values: Column, by: Column) -> Column:
    """Values in standard deviations of ``by`` above its mean; 0 where it does not vary."""
    deviation = float(by.std())
    return (values - by.mean()) / deviation if deviation > 1e-9 else np.zeros(len(values))
