"""``fuzi jobs``: uploads on their way; ``fuzi worker``: work on them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from service.cli.help_text import flowing
from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import error_json, reporting
from service.cli.settings import load_settings, with_options
from service.errors import FuziError, JobNotFound, WrongJobState

if TYPE_CHECKING:
    from service.cli.work.backend import Answer, JobAction
    from service.config import Settings

JobIds = Annotated[list[UUID], typer.Argument(metavar="JOB...", help="Ids of jobs.")]


def list_jobs(
    document: Annotated[UUID | None, typer.Option(help="Only jobs of this document.")] = None,
    collection: Annotated[str | None, typer.Option(help="Only this collection.")] = None,
    status: Annotated[str | None, typer.Option(help="Only this status, such as failed or embedding.")] = None,
    unfinished: Annotated[bool | None, typer.Option("--unfinished/--finished", help="Only jobs that go on.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Jobs on a page.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="Jobs to pass over.")] = 0,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """List uploads and how far they have come, newest first.

    Examples:
      fuzi jobs list --unfinished
      fuzi jobs list --status failed --json

    With --json: {jobs, total, limit, offset}, as GET /v1/jobs answers.
    """
    given = {"document_id": document, "collection": collection, "status": status, "unfinished": unfinished}
    query = {**{key: value for key, value in given.items() if value is not None}, "limit": limit, "offset": offset}
    with reporting(as_json) as output:
        answer = asyncio.run(_list(load_settings(), url, query))
        if as_json:
            output.result(answer)
            return
        from service.cli.show.jobs import draw_jobs

        draw_jobs(output.console, answer)


def cancel(jobs: JobIds, url: ServerUrl = None, as_json: JsonFlag = False) -> None:
    """Cancel uploads that have not ended; what is served now stays.

    Examples:
      fuzi jobs cancel 0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11

    With --json: {jobs: [the jobs]}, and refused: [{job_id, code, message, …}] when some have ended or do not exist;
    then the exit code is 1.
    """
    _change("cancel", jobs, url, as_json=as_json)


def retry(jobs: JobIds, url: ServerUrl = None, as_json: JsonFlag = False) -> None:
    """Put failed uploads back in line; each goes on after the last step that was done.

    Examples:
      fuzi jobs retry $(fuzi jobs list --status failed --json | jq -r '.jobs[].job_id')

    A job is refused that has not failed, and one whose source had a newer upload, whatever became of that.

    With --json: {jobs: [the jobs]}, and refused: [{job_id, code, message, …}]; then the exit code is 1.
    """
    _change("retry", jobs, url, as_json=as_json)


def worker(
    concurrency: Annotated[int | None, typer.Option(min=1, max=100, help="Jobs at once (3).")] = None,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Answer GET /metrics on this port; 0 picks one.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Work on uploads until Ctrl-C or SIGTERM; any number of workers may run, on any hosts with the same database.

    Examples:
      fuzi worker --concurrency 8
      fuzi worker --metrics-port 9464

    Jobs under way get FUZI_JOBS__GRACEFUL_SECONDS at the end, then they go back in line. `fuzi serve` has a worker
    inside unless FUZI_JOBS__INSIDE_SERVE=false.

    Settings that matter: FUZI_JOBS__…, FUZI_DATABASE__URL, FUZI_ORIGINALS__URL, FUZI_EMBED__…, FUZI_EXTRACT__….
    """
    with reporting(as_json) as output:
        settings = load_settings(quiet=False)
        jobs = with_options(settings.jobs, {"concurrency": concurrency, "metrics_port": metrics_port})
        asyncio.run(_work(settings.model_copy(update={"jobs": jobs}), output.note))
        if as_json:
            output.result({"stopped": True})


async def _work(settings: Settings, announce: Callable[[str], None]) -> None:
    from service.cli.work.serving import measured
    from service.db.engine import database_errors
    from service.wiring import open_services
    from service.worker import working

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with database_errors():
        async with open_services(settings) as services, measured(services, announce), working(services):
            announce("the worker is running; Ctrl-C stops it")
            await stop.wait()


async def _list(settings: Settings, url: str | None, query: dict[str, Any]) -> Answer:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url) as backend:
        return await backend.jobs(query)


def _change(action: JobAction, jobs: list[UUID], url: str | None, *, as_json: bool) -> None:
    with reporting(as_json) as output:
        answers, refused = asyncio.run(_change_all(load_settings(), url, action, jobs))
        if as_json:
            errors = [{"job_id": str(job_id), **error_json(error)} for job_id, error in refused.items()]
            output.result({"jobs": answers} | ({"refused": errors} if errors else {}))
        else:
            for job in answers:
                output.note(f"{job['source']}: {job['status']}")
            for job_id, error in refused.items():
                output.note(f"{job_id}: {error.code}: {error.message}")
        if refused:
            raise typer.Exit(1)


async def _change_all(
    settings: Settings, url: str | None, action: JobAction, jobs: list[UUID]
) -> tuple[list[Answer], dict[UUID, FuziError]]:
    """Change every job that lets itself be changed; returns those, and why the others did not."""
    from service.cli.work.backend import open_backend

    answers: list[Answer] = []
    refused: dict[UUID, FuziError] = {}
    async with open_backend(settings, url) as backend:
        for job_id in jobs:
            try:
                answers.append(await backend.change_job(job_id, action))
            except (WrongJobState, JobNotFound) as error:
                refused[job_id] = error
    return answers, refused


jobs = typer.Typer(no_args_is_help=True, help="Uploads on their way: list, cancel, retry.")
jobs.command("list", help=flowing(list_jobs.__doc__))(list_jobs)
jobs.command("cancel", help=flowing(cancel.__doc__))(cancel)
jobs.command("retry", help=flowing(retry.__doc__))(retry)
