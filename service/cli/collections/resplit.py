"""``fuzi collections resplit``: cut what was cut with other settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Protocol

import typer
from rich.console import Console

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import Output, interruptible, reporting
from service.cli.progress_bar import CountingBar
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.cli.work.backend import Answer, Backend
    from service.config import Settings

_AT_ONCE = 200
"""Documents queued by one call, so that the bar moves."""
_LOOK_SECONDS = 0.3


class Watch(Protocol):
    """Hears how the work goes on."""

    def queued(self, done: int, total: int) -> None:
        """So many outdated documents are queued."""

    def cut(self, done: int, total: int) -> None:
        """So many of those queued are done with."""


def resplit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the collection.")],
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until all are done, or leave them queued.")] = (
        True
    ),
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Cut documents anew that were taken in with other settings than those in force now.

    Examples:
      fuzi collections set manuals child_size=150
      fuzi collections resplit manuals
      fuzi collections resplit manuals --no-wait --json

    `fuzi collections show` counts them. Each stays found as it is until its new version takes its place in one step.
    The stored text is cut; a file is only read again where reading it would differ (`reflow`). Texts that were embedded
    before are not embedded again. It may be stopped at any moment: what is queued is done by the next `fuzi serve`,
    `fuzi worker` or call of this command. Exit code 1 when a document could not be cut anew; it stays as it was.

    With --json: {name, queued_count, outdated_count, outdated_queued_count}, the last two as they are at the end.
    """
    with reporting(as_json) as output:
        answer = interruptible(
            output,
            _run(load_settings(), url, name, output, wait=wait),
            "what is queued goes on where a worker runs; the same command waits for it again",
        )
        if as_json:
            output.result(answer)
        else:
            output.console.print(_told(answer), markup=False, soft_wrap=True)
        if wait and answer["outdated_count"]:
            raise typer.Exit(1)


async def _run(settings: Settings, url: str | None, name: str, output: Output, *, wait: bool) -> Answer:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url, to_ingest=wait) as backend:
        with ResplitProgress(output.notes) as progress:
            return await cut_anew(backend, name, progress, wait=wait)


async def cut_anew(backend: Backend, name: str, watch: Watch, *, wait: bool) -> Answer:
    """Queue all outdated documents, and wait until none is under way any more."""
    queued = 0
    waiting = (await backend.collection(name))["outdated_queued_count"]
    while (answer := await backend.resplit(name, _AT_ONCE))["queued_count"]:
        queued += answer["queued_count"]
        watch.queued(queued, queued + answer["left_count"])
    total = queued + waiting
    collection = await backend.collection(name)
    while wait and (under_way := collection["outdated_queued_count"]):
        watch.cut(max(0, total - under_way), total)
        await asyncio.sleep(_LOOK_SECONDS)
        collection = await backend.collection(name)
    counts = {key: collection[key] for key in ("outdated_count", "outdated_queued_count")}
    return {"name": name, "queued_count": queued, **counts}


class ResplitProgress(CountingBar):
    """A `Watch`: one bar, first over what is queued, then over what is cut."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, "looking")

    def queued(self, done: int, total: int) -> None:
        """See `Watch`."""
        self._say("queuing")
        self._count(done, total)

    def cut(self, done: int, total: int) -> None:
        """See `Watch`."""
        self._say("cutting and embedding")
        self._count(done, total)


def _told(answer: Answer) -> str:
    queued, waiting = answer["queued_count"], answer["outdated_queued_count"]
    if answer["outdated_count"] is None:
        return "the settings were changed meanwhile and cannot hold together now"
    failed = answer["outdated_count"] - waiting
    parts = [f"{documents(queued)} queued"] if queued else ["nothing to cut anew" if not failed else "nothing queued"]
    parts += [f"{waiting:,} under way"] if waiting else []
    parts += [f"{documents(failed)} still as before: `fuzi jobs list --status failed` says why"] if failed else []
    return "; ".join(parts)


def documents(count: int) -> str:
    """A number of documents in words."""
    return "1 document" if count == 1 else f"{count:,} documents"
