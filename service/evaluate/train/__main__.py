"""``python -m service.evaluate.train DIR… [--model FILE]``: train the local reranker on data sets and print figures.

Needs LightGBM (dependency group ``dev``). Settings as for every command; ``FUZI_HOME`` holds the evaluation databases.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from itertools import permutations
from pathlib import Path

from service.config import Settings
from service.evaluate.run.take_in import TakeInProgress
from service.evaluate.train.fit import cross_validate, fit, reciprocal_ranks
from service.evaluate.train.gather import STAGES, Examples, gather


class _Lines:
    """Progress on standard error."""

    def taking_in(self, progress: TakeInProgress) -> None:
        self._show(f"documents {progress.done_documents}/{progress.total_documents}")

    def asking(self, done: int, total: int) -> None:
        self._show(f"questions {done}/{total}")

    def _show(self, text: str) -> None:
        sys.stderr.write(f"\r{text}")


def main() -> None:
    """Gather, cross-validate, test across data sets, train on all."""
    parser = argparse.ArgumentParser(prog="python -m service.evaluate.train", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="data sets as fuzi evaluate reads them")
    parser.add_argument("--model", type=Path, help="where the model trained on all data sets is written")
    parser.add_argument("--seeds", type=int, default=3, help="rounds of cross-validation")
    parser.add_argument("--limit", type=int, help="only so many questions of each data set, the first ones")
    arguments = parser.parse_args()
    sets = {
        folder.name: asyncio.run(gather(Settings(), folder, _Lines(), arguments.limit)) for folder in arguments.folders
    }
    for line in report(sets, arguments.seeds):
        sys.stdout.write(f"{line}\n")
    if arguments.model is not None:
        arguments.model.write_text(fit(list(sets.values())), encoding="utf-8")


def report(sets: dict[str, Examples], seeds: int) -> list[str]:
    """MRR@10 as lines: fused order, cross-validated, and trained on one set and tested on another."""
    lines = [f"{'':44}" + "".join(f"{stage:>8}" for stage in STAGES)]

    def add(name: str, figures: list[float]) -> None:
        lines.append(f"{name:44}" + "".join(f"{figure:8.4f}" for figure in figures))

    for name, examples in sets.items():
        add(f"{name}, fused", [float(reciprocal_ranks(None, examples[stage]).mean()) for stage in STAGES])
    for seed in range(seeds):
        for name, ranks in zip(sets, cross_validate(list(sets.values()), seed=seed), strict=True):
            add(f"{name}, cross-validated, seed {seed}", [float(ranks[stage].mean()) for stage in STAGES])
    for (source, examples), (target, others) in permutations(sets.items(), 2):
        model = fit([examples])
        add(
            f"{target}, trained on {source}", [float(reciprocal_ranks(model, others[stage]).mean()) for stage in STAGES]
        )
    return lines


if __name__ == "__main__":
    main()
