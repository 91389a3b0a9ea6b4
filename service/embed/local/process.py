"""The parent's side of the local model's process: starts it when first needed, and again when it died."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.embed.local.worker import ANSWER, READY, REQUEST
from service.errors import EmbedderUnavailable
from service.types import Vector

_WORKER = Path(__file__).with_name("worker.py")


class ProcessDied(Exception):
    """The process ended, or was ended because it took too long, before it answered."""


def worker_command(threads: int, niceness: int) -> list[str]:
    """Command line of ``worker.py``; ``-P`` keeps its folder out of the import path."""
    return [sys.executable, "-P", str(_WORKER), str(threads), str(niceness)]


class ModelProcess:
    """One process with the local model.

    Args:
        command: what to run; speaks the frames of ``worker``.
        omp_threads: threads the engine may use for one text.
        start_seconds: limit of loading the model.
    """

    def __init__(self, command: Sequence[str], *, omp_threads: int, start_seconds: float = 60) -> None:
        self._command = command
        # PASSIVE: threads that wait at a barrier sleep instead of spinning on a core that others need.
        self._environment = {**os.environ, "OMP_NUM_THREADS": str(omp_threads), "OMP_WAIT_POLICY": "PASSIVE"}
        self._start_seconds = start_seconds
        self._starting = asyncio.Lock()
        self._retrying = asyncio.Lock()
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Vector]] = {}
        self._last_request = READY
        self._closed = False

    async def embed(self, text: str, *, is_query: bool, seconds: float) -> Vector:
        """Vector of one text, float32 ``[dimension]``; restarts a dead process and tries once more.

        Args:
            text: without NUL and unpaired surrogates.
            is_query: which prefix the model puts before the text.
            seconds: limit of one try; a process that takes longer is ended.

        Raises:
            EmbedderUnavailable: the second try failed too, or the process does not start.
        """
        with contextlib.suppress(ProcessDied):
            return await self._ask(text, is_query, seconds)
        # One at a time: whoever killed the process shall not kill the second try of the others too.
        async with self._retrying:
            try:
                return await self._ask(text, is_query, seconds)
            except ProcessDied as death:
                raise EmbedderUnavailable(f"the local embedding model failed twice on a text: {death}") from death

    async def start(self) -> Process:
        """The running process; loads the model if it is not."""
        async with self._starting:
            if self._closed:
                raise EmbedderUnavailable("the local embedding model was closed")
            if self._process is not None and self._process.returncode is None:
                return self._process
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, env=self._environment
            )
            try:
                async with asyncio.timeout(self._start_seconds):
                    assert process.stdout is not None  # noqa: S101 - PIPE above
                    await process.stdout.readexactly(ANSWER.size)
            except (TimeoutError, asyncio.IncompleteReadError) as error:
                await _end(process)
                raise EmbedderUnavailable(
                    f"the process of the local embedding model does not start (exit status {process.returncode}); "
                    "its own message is on standard error"
                ) from error
            except BaseException:
                await _end(process)
                raise
            self._process = process
            self._reader = asyncio.create_task(self._read(process))
            return process

    async def close(self) -> None:
        """Ends the process; texts in work fail."""
        self._closed = True
        async with self._starting:
            if self._process is not None:
                await _end(self._process)
            if self._reader is not None:
                await self._reader

    async def _ask(self, text: str, is_query: bool, seconds: float) -> Vector:
        process = await self.start()
        assert process.stdin is not None  # noqa: S101 - PIPE above
        self._last_request = self._last_request % 0xFFFF_FFFF + 1
        request = self._last_request
        answer: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        self._waiting[request] = answer
        payload = text.encode()
        try:
            async with asyncio.timeout(seconds):
                process.stdin.write(REQUEST.pack(request, is_query, len(payload)) + payload)
                await process.stdin.drain()
                return await answer
        except TimeoutError as error:
            await _end(process)
            raise ProcessDied(f"no answer within {seconds:g} s") from error
        except ConnectionError as error:
            await _end(process)
            raise ProcessDied("it ended while a text was sent") from error
        finally:
            del self._waiting[request]

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # noqa: S101 - PIPE above
        try:
            while True:
                request, length = ANSWER.unpack(await process.stdout.readexactly(ANSWER.size))
                numbers = np.frombuffer(await process.stdout.readexactly(length), dtype=np.float32)
                answer = self._waiting.get(request)
                # Nobody waits any more for a request that was cancelled.
                if answer is not None and not answer.done():
                    answer.set_result(numbers)
        except asyncio.IncompleteReadError:
            status = await process.wait()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ProcessDied(f"its process ended with status {status}"))


async def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
