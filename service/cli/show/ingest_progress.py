"""The progress bar of an ingestion."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from service.cli.progress_bar import ProgressBar
from service.cli.work.files import FoundFile
from service.cli.work.ingest_run import FileResult
from service.types import IngestOutcome

_UNREAD = 0.02
"""Share of a file that counts as done when its text is read and cut: embedding is what takes the time."""


class IngestProgress(ProgressBar):
    """A bar over the bytes that need work: files that turn out to be unchanged leave the bar, so that
    the time left is an estimate for work and not for skipping. Without a terminal nothing is drawn."""

    def __init__(self, console: Console, files: list[FoundFile], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._files = len(files)
        self._finished = self._failed = self._skipped = 0
        self._total = sum(file.size_bytes for file in files)
        self._done = 0.0
        self._shares: dict[str, float] = {}
        self._chunks: dict[str, int] = {}
        self._begun: float | None = None
        super().__init__(
            console,
            SpinnerColumn(),
            TextColumn("{task.fields[files]}"),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
        )
        self._task = self._progress.add_task("ingest", total=self._total or None, files="", rate="")

    def __enter__(self) -> Self:
        super().__enter__()
        self._draw()
        return self

    @property
    def line(self) -> tuple[float, float, str, str]:
        """Bytes done, bytes to do in all, and both texts of the bar."""
        return self._done + sum(self._shares.values()), self._total, self._files_text(), self._rate_text()

    def began(self, file: FoundFile) -> None:
        """See `Watch`."""
        self._begun = self._begun or self._clock()
        self._shares[file.source] = 0.0
        self._draw()

    def embedded(self, file: FoundFile, done: int, total: int) -> None:
        """See `Watch`."""
        self._shares[file.source] = file.size_bytes * (_UNREAD + (1 - _UNREAD) * done / total if total else _UNREAD)
        self._chunks[file.source] = done
        self._draw()

    def finished(self, result: FileResult) -> None:
        """See `Watch`."""
        self._finished += 1
        self._shares.pop(result.file.source, None)
        self._failed += result.error is not None
        if result.outcome in {IngestOutcome.UNCHANGED, IngestOutcome.UPDATED}:
            self._skipped += 1
            self._total -= result.file.size_bytes
        else:
            self._done += result.file.size_bytes
            if result.error is None:
                self._chunks[result.file.source] = result.child_count
        self._draw()

    def stopping(self, file_count: int) -> None:
        """See `Watch`."""
        files = "the file" if file_count == 1 else f"the {file_count} files"
        self._progress.console.print(f"stopping: {files} under way may finish for a few seconds", soft_wrap=True)

    def _draw(self) -> None:
        done, total, files, rate = self.line
        self._progress.update(self._task, completed=done, total=total or None, files=files, rate=rate)

    def _files_text(self) -> str:
        parts = [f"{self._finished}/{self._files} files"]
        parts += [f"{self._skipped} unchanged"] if self._skipped else []
        parts += [f"{self._failed} failed"] if self._failed else []
        return ", ".join(parts)

    def _rate_text(self) -> str:
        chunks = sum(self._chunks.values())
        seconds = 0.0 if self._begun is None else self._clock() - self._begun
        return f"{chunks / seconds:.1f} chunks/s" if chunks and seconds > 0 else ""
