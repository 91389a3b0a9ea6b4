"""The progress bar of a replica that is being made."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn

from service.cli.progress_bar import ProgressBar


class ReplicaProgress(ProgressBar):
    """A `Watch`: a bar over all rows on a terminal, else one line for each new stage."""

    def __init__(self, console: Console) -> None:
        self._console = console
        super().__init__(
            console,
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
        )
        self._task = self._progress.add_task("", total=None)

    def stage(self, words: str) -> None:
        """See `Watch`."""
        if not self._console.is_terminal:
            self._console.print(words, markup=False)
        self._progress.update(self._task, description=words)

    def copied(self, done: int, total: int) -> None:
        """See `Watch`."""
        self._progress.update(self._task, completed=done, total=total)
