"""Take in many files, a few at a time; one bad file is one failed result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import structlog

from service.cli.work.backend import Backend
from service.cli.work.files import FoundFile
from service.errors import DatabaseUnavailable, FuziError, InvalidInput
from service.types import IngestOutcome, IngestRequest, JsonObject

log = structlog.get_logger()

FAILED = "failed"
OUTCOMES = (*IngestOutcome, FAILED)


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one file: the answer of the REST service, or the error."""

    file: FoundFile
    answer: JsonObject = field(default_factory=dict)
    error: FuziError | None = None

    @property
    def outcome(self) -> str:
        """``created``, ``replaced``, ``unchanged``, ``updated`` or ``failed``."""
        return FAILED if self.error else str(self.answer["outcome"])

    @property
    def child_count(self) -> int:
        """Child chunks of the document."""
        return int(self.answer.get("child_count", 0))


class Watch(Protocol):
    """Hears how the run goes on."""

    def began(self, file: FoundFile) -> None:
        """Work on a file begins."""

    def embedded(self, file: FoundFile, done: int, total: int) -> None:
        """So many of the file's child chunks are embedded."""

    def finished(self, result: FileResult) -> None:
        """A file is done with, well or not."""

    def stopping(self, file_count: int) -> None:
        """The run was stopped; so many files under way get a few seconds to finish."""


@dataclass(slots=True)
class IngestRun:
    """The files of one command and what has become of them so far; ``results`` is in the order of ``files``."""

    files: Sequence[FoundFile]
    collection: str
    metadata: JsonObject | None
    _done: dict[int, FileResult] = field(default_factory=dict)

    @property
    def results(self) -> list[FileResult]:
        """Results of the files that are done with."""
        return [self._done[index] for index in sorted(self._done)]

    async def run(self, backend: Backend, concurrency: int, watch: Watch, grace_seconds: float = 0) -> None:
        """Take in all files, ``concurrency`` at a time.

        Cancelling it begins no further file and gives those under way ``grace_seconds`` to finish, so that what is
        done is known as done; what is not goes on when the command is run again.

        Raises:
            DatabaseUnavailable: the database went away; the other files would only fail one by one.
        """
        waiting = iter(list(enumerate(self.files)))
        workers = [asyncio.create_task(self._work(backend, waiting, watch)) for _ in range(concurrency)]
        try:
            await asyncio.gather(*map(asyncio.shield, workers))
        except asyncio.CancelledError:
            for _index, _file in waiting:  # none of them is begun any more
                pass
            under_way = sum(not worker.done() for worker in workers)
            if under_way:
                watch.stopping(under_way)
                await asyncio.wait(workers, timeout=grace_seconds)
            raise
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, backend: Backend, waiting: Iterator[tuple[int, FoundFile]], watch: Watch) -> None:
        for index, file in waiting:
            watch.began(file)
            result = await self._one(backend, file, partial(watch.embedded, file))
            self._done[index] = result
            watch.finished(result)

    async def _one(self, backend: Backend, file: FoundFile, embedded: Callable[[int, int], None]) -> FileResult:
        if file.complaint is not None:
            return FileResult(file, error=InvalidInput(file.complaint))
        request = IngestRequest(
            path=file.path,
            source=file.source,
            file_name=file.source.rsplit("/", 1)[-1],
            collection=self.collection,
            metadata=self.metadata,
        )
        try:
            return FileResult(file, await backend.ingest(request, embedded))
        except DatabaseUnavailable:
            raise
        except FuziError as error:
            return FileResult(file, error=error)
        except OSError as error:
            return FileResult(file, error=InvalidInput(f"it cannot be read: {error.strerror or error}"))
        except Exception as error:
            log.exception("ingest_broke", source=file.source)
            first_line = str(error).partition("\n")[0]
            return FileResult(file, error=FuziError(f"{type(error).__name__}: {first_line}"))


def totals(results: Sequence[FileResult]) -> dict[str, Any]:
    """Counts of files by outcome, and the chunks and bytes behind them."""
    counts = {str(outcome): sum(result.outcome == outcome for result in results) for outcome in OUTCOMES}
    return {
        "files": len(results),
        **counts,
        "parent_count": sum(int(result.answer.get("parent_count", 0)) for result in results),
        "child_count": sum(result.child_count for result in results),
        "size_bytes": sum(result.file.size_bytes for result in results),
    }
