"""Progress of an evaluation: documents with rate and time left, then questions."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from service.cli.progress_bar import ProgressBar
from service.evaluate.run.take_in import TakeInProgress


class EvaluationProgress(ProgressBar):
    """A `Watch` of evaluations. Without a terminal: nothing."""

    def __init__(self, console: Console) -> None:
        self._taking: TaskID | None = None
        self._asking: TaskID | None = None
        self._begun = time.monotonic()
        super().__init__(
            console,
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[amount]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )

    def taking_in(self, progress: TakeInProgress) -> None:
        """See `Watch`."""
        if self._taking is None:
            self._begun = time.monotonic()
            self._taking = self._progress.add_task("documents", total=progress.total_characters, amount="")
        amount = f"{progress.done_documents} / {progress.total_documents}, {rate(progress, self._begun)}"
        self._progress.update(self._taking, completed=progress.done_characters, amount=amount)

    def asking(self, done: int, total: int) -> None:
        """See `Watch`."""
        if self._asking is None or self._progress.tasks[self._asking].finished:
            self._asking = self._progress.add_task("questions", total=total, amount="")
        self._progress.update(self._asking, completed=done, amount=f"{done} / {total}")


def rate(progress: TakeInProgress, begun: float) -> str:
    """Chunks a second since ``begun``."""
    return f"{progress.done_chunks / max(0.001, time.monotonic() - begun):.0f} chunks/s"
