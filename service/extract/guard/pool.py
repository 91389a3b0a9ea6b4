"""Parser processes kept ready: one file each at a time, reused, replaced when they die or grow."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import Any

import structlog

from service.config import ExtractSettings
from service.errors import ExtractionCrashed, ExtractionLimit, ExtractionTimeout
from service.extract.guard.messages import Task, task_message
from service.extract.guard.parser_process import ParserDied, ParserProcess

log = structlog.get_logger()

_WATCH_SECONDS = 0.2
_FILES_PER_PROCESS = 1000
_RETIREMENT_SHARE = 0.5
"""An idle process that still holds this share of its memory limit is replaced by a fresh one."""
_MEMORY_WORDS = ("memory allocation", "outofmemory", "memoryerror", "cannot allocate", "out of memory", "heap chunk")


class ParserPool:
    """At most ``settings.workers`` processes. A process is started when the first file needs it."""

    def __init__(self, settings: ExtractSettings) -> None:
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.workers)
        self._idle: list[ParserProcess] = []

    async def ask(self, task: Task) -> dict[str, Any]:
        """Answer of one process to one task, within the limits.

        Raises:
            ExtractionTimeout: no answer within the seconds of the task (waiting for a free process not counted).
            ExtractionLimit: the memory limit was reached.
            ExtractionCrashed: the process died. When somebody else killed it (the kernel, short of memory, takes
                whoever is largest) the file may be innocent: it is given to a second process first.
        """
        async with self._slots:
            try:
                return await self._ask_one(task)
            except ExtractionCrashed as error:
                if error.details.get("return_code") != -signal.SIGKILL:
                    raise
                log.warning("parser_killed", message="the file is read once more")
                return await self._ask_one(task)

    async def _ask_one(self, task: Task) -> dict[str, Any]:
        process = await self._take()
        try:
            answer = await self._guarded(process, task)
        except BaseException:
            await asyncio.shield(process.kill())
            raise
        await self._give_back(process, is_last=bool(answer.get("is_last")))
        return answer

    async def close(self) -> None:
        """End all processes. Files still being read end with an error."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(process.dismiss() for process in idle))

    async def _take(self) -> ParserProcess:
        while self._idle:
            process = self._idle.pop()
            if process.is_alive:
                return process
            await process.kill()
        return await ParserProcess.start(self._settings)

    async def _give_back(self, process: ParserProcess, *, is_last: bool) -> None:
        is_grown = process.memory_mb() > self._settings.memory_mb * _RETIREMENT_SHARE
        if is_last or is_grown or process.files_read >= _FILES_PER_PROCESS or not process.is_alive:
            await process.dismiss()
        else:
            self._idle.append(process)

    async def _guarded(self, process: ParserProcess, task: Task) -> dict[str, Any]:
        limit_mb = self._settings.memory_mb
        watch = asyncio.create_task(self._watch_memory(process))
        try:
            async with asyncio.timeout(task.limit_seconds):
                return await process.ask(task_message(task))
        except TimeoutError as error:
            seconds = task.limit_seconds
            raise ExtractionTimeout(f"reading took longer than {seconds:g} seconds", limit_seconds=seconds) from error
        except ParserDied as error:
            is_memory = process.is_over_memory or any(word in error.complaint.lower() for word in _MEMORY_WORDS)
            if is_memory:
                raise ExtractionLimit(f"reading needed more memory than {limit_mb} MB", limit_mb=limit_mb) from error
            raise ExtractionCrashed("the parser died on this file", return_code=error.return_code) from error
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch

    async def _watch_memory(self, process: ParserProcess) -> None:
        """Return after the process was killed for its memory. The kernel's limit on data covers Linux only."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if process.memory_mb(with_children=True) > self._settings.memory_mb:
                process.is_over_memory = True
                await process.kill()
                return
