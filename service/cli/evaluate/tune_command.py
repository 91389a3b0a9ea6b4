"""``fuzi tune``: which settings of the search fit one's documents and questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.options import JsonFlag
from service.cli.output import Output, interruptible, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings


def tune(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Data sets: see docs/evaluation.md.")],
    embedding_text: Annotated[
        bool,
        typer.Option("--embedding-text", help="Also try the other text to embed; its vectors have to be computed."),
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=4, help="Use the first so many questions.")] = None,
    split_seed: Annotated[int, typer.Option("--split-seed", min=0, help="Seed of halving the questions.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the resampling.")] = 0,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=64, help="Searches under way at once.")] = 2,
    as_json: JsonFlag = False,
) -> None:
    """Try weights, rrf_k and candidates on data sets, and recommend others only when they are better beyond noise.

    Examples:
      fuzi tune ./data/law_dev
      fuzi tune ./data/law_dev ./data/cmrc2018 --embedding-text
      fuzi tune ./data/law_dev --split-seed 1 --json

    One half of the questions chooses; the other half, which chose nothing, says whether the choice is worth it. With
    several sets each has the same weight. Nothing is changed: variables to set are printed.

    With --json: {metric, sets, present, best, next_best, weights, held_out, recommended, rerank}.
    """
    from service.cli.evaluate.tuning_tables import show_tuning
    from service.evaluate.tune.recommend import report_of

    with reporting(as_json) as output:
        for folder in folders:
            if not folder.is_dir():
                raise typer.BadParameter(f"there is no folder {folder}")
        work = _tune(output, load_settings(), folders, embedding_text, limit, split_seed, at_once)
        tuning = interruptible(output, work, "nothing was changed")
        report = report_of(tuning, seed)
        if as_json:
            output.result(report)
        else:
            show_tuning(output.console, report)


async def _tune(
    output: Output,
    settings: Settings,
    folders: list[Path],
    embedding_text: bool,
    limit: int | None,
    split_seed: int,
    at_once: int,
) -> Any:
    from service.cli.evaluate.progress import EvaluationProgress
    from service.db.engine import database_errors
    from service.evaluate.tune.tuning import TunePlan
    from service.evaluate.tune.tuning import tune as find_settings

    plan = TunePlan(embedding_text, limit, split_seed, at_once)
    with database_errors(), EvaluationProgress(output.notes) as progress:
        return await find_settings(settings, folders, plan, progress)
