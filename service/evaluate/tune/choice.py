"""Which settings to try, and which of them to recommend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from service.config import SearchSettings
from service.evaluate.figures.intervals import LEVEL, Difference, differences
from service.evaluate.tune.fusion import Fusion
from service.types import FtsTerms

_VECTOR_SHARES = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
_RRF_K = (10, 20, 40, 60, 100)
_CANDIDATES = (20, 50, 100, 200)
_FTS_TERMS: tuple[FtsTerms, ...] = ("both", "words", "pairs")


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of the sweep: a fusion, on vectors of a text with or without title and heading path."""

    fusion: Fusion
    heading_context: bool


def defaults_of(settings: SearchSettings) -> Fusion:
    """The fusion that is in force."""
    return Fusion(settings.vector_weight, settings.fts_weight, settings.rrf_k, settings.candidates, settings.fts_terms)


def fusions_to_try(settings: SearchSettings) -> list[Fusion]:
    """All combinations around the settings in force, which come first."""
    present = defaults_of(settings)
    legs = {(present.vector_weight, present.fts_weight): None}
    legs |= dict.fromkeys((float(share), float(100 - share)) for share in _VECTOR_SHARES)
    tried = [
        Fusion(vector_weight, fts_weight, rrf_k, candidates, fts_terms)
        for candidates in dict.fromkeys((present.candidates, *_CANDIDATES))
        if candidates <= settings.max_candidates
        for rrf_k in dict.fromkeys((present.rrf_k, *_RRF_K))
        for vector_weight, fts_weight in legs
        for fts_terms in dict.fromkeys((present.fts_terms, *_FTS_TERMS))
        if fts_weight > 0 or fts_terms == present.fts_terms  # a leg that is not asked
    ]
    return [present, *(fusion for fusion in tried if fusion != present)]


def halves(question_count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the tuning half and of the held-out half, each in order; same seed, same halves."""
    shuffled = np.random.default_rng([seed, question_count]).permutation(question_count)
    middle = question_count // 2
    return np.sort(shuffled[:middle]), np.sort(shuffled[middle:])


def best_column(figures: Sequence[NDArray[np.float64]]) -> int:
    """Column with the largest mean over the sets, each set with the same weight; of equals the first.

    Args:
        figures: for each set [question_count, setting_count].
    """
    means = np.mean([each.mean(axis=0) for each in figures], axis=0)
    return int(np.argmax(means > means.max() - 1e-12))


def difference_over_sets(pairs: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], seed: int) -> Difference:
    """Difference of two columns of figures, paired by question, as the mean over sets of their means.

    Args:
        pairs: for each set the figures before and after, [question_count].
    """
    total = sum(len(before) for before, _ in pairs.values())
    weighted = [
        [side * (total / len(pairs) / len(side)) for side in (before, after)] for before, after in pairs.values()
    ]
    before, after = (np.concatenate([pair[side] for pair in weighted])[:, None] for side in (0, 1))
    return differences(before, after, seed)[0]


def is_beyond_noise(difference: Difference) -> bool:
    """Whether something is better, and more often than chance would have it."""
    return difference.low > 0 and difference.p_value < LEVEL


def variables(setting: Setting, present: Setting) -> dict[str, str]:
    """The variables that turn the present settings into others."""
    changed: dict[str, float | bool | str] = {
        f"FUZI_SEARCH__{name.upper()}": value for name, value in own_settings(setting, present).items()
    }
    if setting.heading_context != present.heading_context:
        changed["FUZI_EMBED__HEADING_CONTEXT"] = setting.heading_context
    return {name: _written(value) for name, value in changed.items()}


def own_settings(setting: Setting, present: Setting) -> dict[str, float | int | str]:
    """What a collection that is searched alone may have of its own for the same effect."""
    old = asdict(present.fusion)
    return {name: value for name, value in asdict(setting.fusion).items() if value != old[name]}


def _written(value: float | bool | str) -> str:
    return str(value).lower() if isinstance(value, bool | str) else f"{value:g}"
