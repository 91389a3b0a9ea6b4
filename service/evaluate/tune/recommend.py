"""What a tuning found, and what to do about it: only what holds beyond noise on questions that chose nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.evaluate.run.ask import Stage
from service.evaluate.tune.choice import Setting, difference_over_sets, is_beyond_noise, own_settings, variables
from service.evaluate.tune.tuning import METRIC, HeldOut, Tried, Tuning, column_of

_BEST_SHOWN = 5


def report_of(tuning: Tuning, seed: int) -> dict[str, Any]:
    """The tuning as a JSON object.

    ``recommended`` holds the variables to set, empty when the present settings should stay, and ``collection_settings``
    what of them a collection can have for itself. Means are over the sets,
    each with the same weight. ``rerank`` compares the stage rerank with rrf under the setting that is recommended.
    """
    present = tuning.tried[0]
    best = next(tried for tried in tuning.tried if tried.setting == tuning.best)
    stages = {} if tuning.chosen is None else _compared(tuning.present, tuning.chosen, seed)
    is_better = bool(stages) and stages[tuning.last_stage]["beyond_noise"]
    kept = tuning.chosen if tuning.chosen is not None and is_better else tuning.present
    return {
        "metric": METRIC,
        "sets": {name: {"tuning": tuned, "held_out": held} for name, (tuned, held) in tuning.question_counts.items()},
        "tried": len(tuning.tried),
        "present": _tried(present),
        "best": _tried(best),
        "next_best": [_tried(each) for each in sorted(tuning.tried, key=lambda each: -each.mean)[1 : _BEST_SHOWN + 1]],
        "weights": [_tried(each) for each in tuning.tried if _differs_only_in_weights(each.setting, present.setting)],
        "held_out": stages,
        "decided_by": tuning.last_stage.value,
        "recommended": variables(tuning.best, present.setting) if is_better else {},
        "collection_settings": own_settings(tuning.best, present.setting) if is_better else {},
        "takes_in_anew": is_better and tuning.best.heading_context != present.setting.heading_context,
        "rerank": _rerank(kept, seed),
    }


def _compared(present: HeldOut, chosen: HeldOut, seed: int) -> dict[str, Any]:
    return {
        stage.value: _difference(
            {name: (column_of(present.figures[name][stage]), column_of(chosen.figures[name][stage]))
             for name in present.figures},
            seed,
        )
        for stage in next(iter(present.figures.values()))
    }  # fmt: skip


def _rerank(held_out: HeldOut, seed: int) -> dict[str, Any] | None:
    """Rerank against rrf on the held-out half; None without a reranker."""
    if not all(Stage.RERANK in stages for stages in held_out.figures.values()):
        return None
    return _difference(
        {name: (column_of(stages[Stage.RRF]), column_of(stages[Stage.RERANK]))
         for name, stages in held_out.figures.items()},
        seed,
    )  # fmt: skip


def _difference(pairs: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], seed: int) -> dict[str, Any]:
    found = difference_over_sets(pairs, seed)
    by_set = {
        name: {"before": float(before.mean()), "after": float(after.mean())} for name, (before, after) in pairs.items()
    }
    return {
        "before": float(np.mean([each["before"] for each in by_set.values()])),
        "after": float(np.mean([each["after"] for each in by_set.values()])),
        "difference": asdict(found),
        "beyond_noise": is_beyond_noise(found),
        "sets": by_set,
    }


def _tried(tried: Tried) -> dict[str, Any]:
    return {
        **asdict(tried.setting.fusion),
        "heading_context": tried.setting.heading_context,
        "mean": round(tried.mean, 6),
        "sets": {name: round(mean, 6) for name, mean in tried.by_set.items()},
    }


def _differs_only_in_weights(setting: Setting, present: Setting) -> bool:
    fusion, other = setting.fusion, present.fusion
    same = replace(fusion, vector_weight=0, fts_weight=0) == replace(other, vector_weight=0, fts_weight=0)
    return same and setting.heading_context == present.heading_context
