"""``fuzi evaluate``: how well searches find what answers, in figures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from service.cli.options import JsonFlag
from service.cli.output import Output, interruptible, reporting
from service.cli.settings import load_settings, with_options

if TYPE_CHECKING:
    from service.config import Settings
    from service.evaluate.run.ask import Stage

_KNOWN_STAGES = ("vector", "fts", "rrf", "rerank")


def evaluate(
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="A data set: see docs/evaluation.md.")] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Your own questions (CSV or JSONL), asked of the live data."),
    ] = None,
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="Ask what users judged; with DIR, write it there as a data set.")
    ] = False,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="NAME", help="With --questions or --from-feedback: only this collection."),
    ] = None,
    legs: Annotated[
        str | None, typer.Option("--legs", metavar="STAGES", help="Any of vector,fts,rrf,rerank; default all.")
    ] = None,
    split: Annotated[
        Literal["auto", "sentence", "structure"] | None,
        typer.Option("--split", help="Cut the documents this way instead of FUZI_SPLIT__STRATEGY."),
    ] = None,
    heading_context: Annotated[
        bool | None,
        typer.Option("--heading-context/--no-heading-context", help="Embed title and headings with the content?"),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Ask only the first so many questions.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the resampling.")] = 0,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=64, help="Searches under way at once.")] = 2,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="An empty database to take instead of making one."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Cut and store the documents anew.")] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Remove the database of this data set, and nothing else.")
    ] = False,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="Compare two kept results; NAME:STAGE takes one stage."),
    ] = None,
    list_kept: Annotated[bool, typer.Option("--list", help="List kept results.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ask questions whose answers are known, and print how often and how high they were found.

    Examples:
      fuzi evaluate ./data/law_dev
      fuzi evaluate ./data/law_dev --split sentence --legs vector,rrf
      fuzi evaluate --questions my.csv --collection manuals
      fuzi evaluate --from-feedback ./data/judged
      fuzi evaluate --list
      fuzi evaluate --compare 20240601T101500-law_dev latest
      fuzi evaluate --compare latest:rrf latest:rerank

    A data set is taken in as uploads are, into a database of its own beside the configured one, which is kept for the
    next run. Your own questions are asked of what is stored, and nothing is written. Results are kept in
    FUZI_HOME/evaluations. Same data, settings and seed: same figures.

    With --json: the kept result, {name, corpus, settings, stages, questions, …} and its file.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        _one_task(folder, questions, compare, list_kept, from_feedback)
        if drop and (folder is None or database is not None):
            raise typer.BadParameter("--drop needs DIR, and removes only the database that was made for it")
        if compare is not None:
            _compare(output, settings, compare, seed)
        elif list_kept:
            _list(output, settings)
        elif drop:
            _drop(output, settings, folder)
        else:
            embed = settings.embed.model_copy(
                update={} if heading_context is None else {"heading_context": heading_context}
            )
            changed = {"split": with_options(settings.split, {"strategy": split}), "embed": embed}
            asked = _Asked(
                folder, questions, from_feedback, collection, _stages(legs), limit, seed, at_once, database, fresh
            )
            _refuse_what_is_not_used(asked, split, heading_context)
            _evaluate(output, settings.model_copy(update=changed), asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asked for."""

    folder: Path | None
    questions: Path | None
    from_feedback: bool
    collection: str | None
    stages: list[Stage] | None
    limit: int | None
    seed: int
    at_once: int
    database: str | None
    fresh: bool


def _evaluate(output: Output, settings: Settings, asked: _Asked) -> None:
    from datetime import UTC, datetime

    from service.cli.evaluate.tables import show_result
    from service.evaluate.kept.folder import keep
    from service.evaluate.kept.result import result_of_evaluation

    work = _ask(output, settings, asked)
    evaluation = interruptible(output, work, "the next run goes on with the documents that are missing")
    result = result_of_evaluation(evaluation, asked.seed, datetime.now(UTC))
    file = None
    try:
        file = keep(settings.home, result)
    except OSError as error:  # minutes of work are worth printing all the same
        output.note(f"the result could not be kept in {settings.home}: {error.strerror or error}")
    if output.as_json:
        output.result({"file": None if file is None else str(file), **result})
    else:
        show_result(output.console, result, file)


async def _ask(output: Output, settings: Settings, asked: _Asked) -> Any:
    from service.cli.evaluate.progress import EvaluationProgress
    from service.db.engine import database_errors
    from service.evaluate.run.evaluation import Plan, evaluate_data_set, evaluate_feedback, evaluate_own_questions

    plan = Plan(asked.stages, asked.limit, asked.at_once)
    with database_errors(), EvaluationProgress(output.notes) as progress:
        if asked.questions is not None:
            return await evaluate_own_questions(settings, asked.questions, asked.collection, plan, progress)
        if asked.from_feedback:
            return await evaluate_feedback(settings, asked.folder, asked.collection, plan, progress)
        assert asked.folder is not None  # noqa: S101 - one of both was asked for
        return await evaluate_data_set(
            settings, asked.folder, plan, progress, database=asked.database, fresh=asked.fresh
        )


def _compare(output: Output, settings: Settings, names: tuple[str, str], seed: int) -> None:
    from dataclasses import asdict

    from service.cli.evaluate.comparison import show_comparison
    from service.evaluate.kept.compare import compare as compare_results
    from service.evaluate.kept.folder import find, read_result

    parts = [_stage_of(name) for name in names]
    files = [find(settings.home, name) for name, _ in parts]
    results = [read_result(file) for file in files]
    comparison = compare_results(results[0], results[1], seed=seed, stages=(parts[0][1], parts[1][1]))
    if output.as_json:
        output.result({"before": str(files[0]), "after": str(files[1]), **asdict(comparison)})
    else:
        show_comparison(output.console, files[0].stem, files[1].stem, comparison)


def _list(output: Output, settings: Settings) -> None:
    from service.cli.evaluate.tables import show_list
    from service.errors import InvalidInput
    from service.evaluate.kept.folder import kept, read_result

    found = []
    for file in kept(settings.home):
        try:
            found.append((file.stem, read_result(file)))
        except InvalidInput as error:  # one file that somebody put there does not hide the others
            output.note(f"left out: {error.message}")
    if output.as_json:
        brief = [{key: value for key, value in result.items() if key != "questions"} for _, result in found]
        output.result({"results": [{"result": name, **each} for (name, _), each in zip(found, brief, strict=True)]})
    elif found:
        show_list(output.console, found)
    else:
        output.note(f"there are no results in {settings.home / 'evaluations'} yet")


def _drop(output: Output, settings: Settings, folder: Path | None) -> None:
    from service.evaluate.run.database import drop_database

    assert folder is not None  # noqa: S101 - looked at before
    dropped = asyncio.run(drop_database(settings, folder))
    if output.as_json:
        output.result({"dropped": dropped})
    else:
        output.console.print("the database of this data set was removed" if dropped else "there was none", markup=False)


def _one_task(
    folder: Path | None,
    questions: Path | None,
    compare: tuple[str, str] | None,
    list_kept: bool,
    from_feedback: bool,
) -> None:
    reads_folder = folder is not None and not from_feedback
    given = sum([reads_folder, questions is not None, compare is not None, list_kept, from_feedback])
    if given != 1:
        raise typer.BadParameter("give one of DIR, --questions FILE, --from-feedback, --compare A B and --list")
    if reads_folder and folder is not None and not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {folder}")


def _refuse_what_is_not_used(asked: _Asked, split: str | None, heading_context: bool | None) -> None:
    of_live_data = asked.questions is not None or asked.from_feedback
    if not of_live_data and asked.collection is not None:
        raise typer.BadParameter("--collection belongs to --questions; a data set has a collection of its own")
    if of_live_data and (split or heading_context is not None or asked.database or asked.fresh):
        raise typer.BadParameter("this asks what is stored: no --split, --heading-context, --database, --fresh")


def _stages(legs: str | None) -> list[Stage] | None:
    from service.evaluate.run.ask import Stage

    if legs is None:
        return None
    names = [name.strip() for name in legs.split(",") if name.strip()]
    unknown = [name for name in names if name not in _KNOWN_STAGES]
    if unknown or not names:
        raise typer.BadParameter(f"--legs takes {', '.join(_KNOWN_STAGES)}, not {', '.join(unknown) or 'nothing'}")
    return [stage for stage in Stage if stage.value in names]


def _stage_of(name: str) -> tuple[str, str | None]:
    """``NAME:STAGE`` in its parts."""
    start, _, stage = name.rpartition(":")
    return (start, stage) if start and stage in _KNOWN_STAGES else (name, None)
