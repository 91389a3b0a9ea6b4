"""The progress bar of the archive commands: one line a step, with the bytes or documents that are really done."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from service.cli.output import Output, interruptible
from service.cli.progress_bar import ProgressBar

_COUNTED = {"storing"}
_WORDS = {
    "verify": "checking every byte",
    "originals": "originals",
    "database": "database",
    "indexes": "building the indexes",
    "check": "checking what was restored",
    "documents": "documents",
    "chunks": "chunks",
    "vectors": "vectors",
    "storing": "storing documents",
}


class ArchiveProgress(ProgressBar):
    """A `Watch`. A step whose size nobody knows beforehand has a spinner and no bar. Without a terminal: nothing."""

    def __init__(self, console: Console) -> None:
        self._tasks: dict[str, TaskID] = {}
        super().__init__(
            console,
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[amount]}"),
            TimeElapsedColumn(),
        )

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """See `Watch`."""
        if step not in self._tasks:
            for task in self._tasks.values():
                self._progress.stop_task(task)
            self._tasks[step] = self._progress.add_task(_WORDS.get(step, step), total=total, amount="")
        self._progress.update(self._tasks[step], completed=done, total=total, amount=amount(step, done, total))


def amount(step: str, done: int, total: int | None) -> str:
    """What is done of a step, in words."""
    if not done and total is None:
        return ""
    written = str if step in _COUNTED else decimal
    return written(done) if total is None else f"{written(done)} / {written(total)}"


def run[Result](output: Output, work: Coroutine[Any, Any, Result]) -> Result:
    """Run an archive flow to its end; Ctrl-C ends it, with everything as it was."""
    return interruptible(output, work, "nothing half-written was left")


def without_server(url: str | None, command: str) -> None:
    """Refuse ``--url``.

    Raises:
        typer.BadParameter: a server was named.
    """
    if url is not None:
        raise typer.BadParameter(
            f"`fuzi {command}` works on the database itself, not through a server: run it where FUZI_DATABASE__URL "
            "or FUZI_HOME leads to the data, without --url and FUZI_URL"
        )
