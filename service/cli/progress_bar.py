"""A progress bar on a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)


class ProgressBar:
    """Is there while its block runs, and gone afterwards. Without a terminal nothing is drawn."""

    def __init__(self, console: Console, *columns: ProgressColumn) -> None:
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class CountingBar(ProgressBar):
    """One bar over all there is to do, with the count and the time that is left."""

    def __init__(self, console: Console, words: str = "") -> None:
        super().__init__(
            console,
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
        )
        self._task = self._progress.add_task(words, total=None)

    def _say(self, words: str) -> None:
        self._progress.update(self._task, description=words)

    def _count(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)


class StagedBar(CountingBar):
    """Says what is done now: beside the bar on a terminal, else in one line for each new stage."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._console = console
        self._words = ""

    def stage(self, words: str) -> None:
        """Begin a stage, or go on with it."""
        if words != self._words and not self._console.is_terminal:
            self._console.print(words, markup=False)
        self._words = words
        self._say(words)
