"""``fuzi ingest``: take in files and folders."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import Output, reporting
from service.cli.settings import load_settings, with_options
from service.errors import FuziError

if TYPE_CHECKING:
    from service.cli.work.ingest_run import IngestRun
    from service.config import Settings


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", exists=True, help="Files and folders; folders with all below.")
    ],
    collection: Annotated[str, typer.Option(help="Collection that takes the documents; made when it is new.")] = (
        "default"
    ),
    source_prefix: Annotated[
        str, typer.Option(metavar="PREFIX", help="Put in front of every source, as a folder.")
    ] = "",
    metadata: Annotated[
        str | None, typer.Option(metavar="JSON", help="JSON object kept with every document, for filters.")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, max=64, help="Files worked on at a time (4).")] = None,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Read, cut, embed and store files; afterwards searches find them.

    Examples:
      fuzi ingest ./documents
      fuzi ingest ./contracts --collection legal --source-prefix contracts/2024
      fuzi ingest report.pdf --metadata '{"department": "法务", "year": 2024}'
      fuzi ingest ./documents --url http://127.0.0.1:8000

    A document's source is its path relative to the folder given (for a file given itself, its name). The same source
    again replaces the document; the same bytes again change nothing, so an interrupted run continues where it was
    when it is started again. Hidden files are passed over. A file that cannot be read is named in the summary, all
    others are stored. Exit code 0 when every file is fine, else 1.

    With --json: {results: [a result per file], totals, interrupted, error}.

    Settings that matter: FUZI_SPLIT__… (how text is cut), FUZI_EMBED__… (which model), FUZI_EXTRACT__WORKERS
    (parser processes), FUZI_JOBS__CONCURRENCY, FUZI_LIMITS__MAX_UPLOAD_MB, FUZI_DATABASE__URL, FUZI_HOME.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        from service.cli.work.files import find_files
        from service.cli.work.ingest_run import IngestRun
        from service.store.metadata import parse_metadata

        parsed = None if metadata is None else parse_metadata(metadata, settings.limits)
        run = IngestRun(find_files(paths, source_prefix), collection, parsed)
        if not run.files and not as_json:
            output.note("no files there (hidden files are passed over)")
        at_once = concurrency or settings.jobs.concurrency + settings.jobs.large_concurrency
        # The run itself waits for files under way, since it must hear of them; the worker then need not wait again.
        grace_seconds = settings.jobs.graceful_seconds
        jobs = with_options(settings.jobs, {"concurrency": concurrency, "graceful_seconds": 0.0})
        settings = settings.model_copy(update={"jobs": jobs})
        begun = time.monotonic()
        stopped = _outcome(settings, url, run, at_once, grace_seconds, output)
        if isinstance(stopped, FuziError) and not run.results:
            raise stopped
        _show(output, run, time.monotonic() - begun, stopped)
        if isinstance(stopped, KeyboardInterrupt):
            raise typer.Exit(130)
        if stopped is not None or any(result.error for result in run.results):
            raise typer.Exit(1)


def _outcome(
    settings: Settings, url: str | None, run: IngestRun, concurrency: int, grace_seconds: float, output: Output
) -> FuziError | KeyboardInterrupt | None:
    """What stopped the run before its end, if something did."""
    try:
        asyncio.run(_run(settings, url, run, concurrency, grace_seconds, output))
    except (FuziError, KeyboardInterrupt) as stopped:
        return stopped
    return None


async def _run(
    settings: Settings, url: str | None, run: IngestRun, concurrency: int, grace_seconds: float, output: Output
) -> None:
    from service.cli.show.ingest_progress import IngestProgress
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url, to_ingest=True) as backend:
        with IngestProgress(output.notes, list(run.files)) as progress:
            await run.run(backend, concurrency, progress, grace_seconds)


def _show(output: Output, run: IngestRun, seconds: float, stopped: FuziError | KeyboardInterrupt | None) -> None:
    from service.cli.show.ingest_summary import draw_summary, ingest_json

    if output.as_json:
        output.result(ingest_json(run.results, seconds, stopped))
        return
    if run.results:
        draw_summary(output.console, run.results, seconds)
    if isinstance(stopped, FuziError):
        output.failure(stopped)
    if stopped is not None:
        left = len(run.files) - len(run.results)
        output.note(f"stopped with {left} of {len(run.files)} files left: run the same command again to continue")
