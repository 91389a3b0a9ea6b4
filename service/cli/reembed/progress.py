"""The progress bar of a change of the embedding model."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn


class ReembedProgress:
    """A `Watch`: a bar over all chunks on a terminal, else one line for each new stage."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._words = ""
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def stage(self, words: str) -> None:
        """See `Watch`."""
        if words != self._words and not self._console.is_terminal:
            self._console.print(words, markup=False)
        self._words = words
        self._progress.update(self._task, description=words)

    def filled(self, done: int, total: int) -> None:
        """See `Watch`."""
        self._progress.update(self._task, completed=done, total=total)
