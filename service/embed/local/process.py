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
import structlog

from service.embed.local.worker import ANSWER, READY, REQUEST
from service.errors import EmbedderUnavailable
from service.types import Vector

log = structlog.get_logger()

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
        at_once: texts handed to the process at once; further ones wait here, in their order, without their limit
            running.
        omp_threads: threads the engine may use for one text.
        start_seconds: limit of loading the model.
    """

    def __init__(self, command: Sequence[str], *, at_once: int, omp_threads: int, start_seconds: float = 60) -> None:
        self.at_once = at_once
        self._command = command
        # PASSIVE: threads that wait at a barrier sleep instead of spinning on a core that others need.
        self._environment = {**os.environ, "OMP_NUM_THREADS": str(omp_threads), "OMP_WAIT_POLICY": "PASSIVE"}
        self._start_seconds = start_seconds
        self._places = asyncio.Semaphore(at_once)
        self._starting = asyncio.Lock()
        self._retrying = asyncio.Lock()
        self._running: _Running | None = None
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
        async with self._places:
            try:
                return await (await self._start()).ask(text, is_query, seconds)
            except ProcessDied as death:
                log.warning("local_model_restart", reason=str(death), text_characters=len(text))
            # One at a time: whoever killed the process shall not kill the second try of the others too.
            async with self._retrying:
                try:
                    return await (await self._start()).ask(text, is_query, seconds)
                except ProcessDied as death:
                    raise EmbedderUnavailable(f"the local embedding model failed twice on a text: {death}") from death

    async def close(self) -> None:
        """Ends the process; texts in work fail."""
        self._closed = True
        async with self._starting:
            if self._running is not None:
                await self._running.end()

    async def _start(self) -> _Running:
        async with self._starting:
            if self._closed:
                raise EmbedderUnavailable("the local embedding model was closed")
            if self._running is not None and self._running.process.returncode is None:
                return self._running
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, env=self._environment
            )
            running = _Running(process)
            try:
                async with asyncio.timeout(self._start_seconds):
                    await running.output.readexactly(ANSWER.size)
            except (TimeoutError, asyncio.IncompleteReadError) as error:
                await running.end()
                raise EmbedderUnavailable(
                    f"the process of the local embedding model does not start (exit status {process.returncode}); "
                    "its own message is on standard error"
                ) from error
            except BaseException:
                await running.end()
                raise
            running.listen()
            self._running = running
            return running


class _Running:
    """A started process and the texts it has not answered yet."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        self.process = process
        self.output = process.stdout
        self._input = process.stdin
        self._waiting: dict[int, asyncio.Future[Vector]] = {}
        self._last_request = READY
        self._listener: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Hands out answers from now on."""
        self._listener = asyncio.create_task(self._listen())

    async def ask(self, text: str, is_query: bool, seconds: float) -> Vector:
        """Vector of one text; raises ProcessDied."""
        self._last_request = self._last_request % 0xFFFF_FFFF + 1
        request = self._last_request
        answer: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        self._waiting[request] = answer
        payload = text.encode()
        try:
            async with asyncio.timeout(seconds):
                self._input.write(REQUEST.pack(request, is_query, len(payload)) + payload)
                await self._input.drain()
                return await answer
        except TimeoutError as error:
            await self.end()
            raise ProcessDied(f"no answer within {seconds:g} s") from error
        except ConnectionError as error:
            await self.end()
            raise ProcessDied("it ended while a text was sent") from error
        finally:
            del self._waiting[request]

    async def end(self) -> None:
        """Kills the process, if it still runs, and waits for its end."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        if self._listener is not None:
            await asyncio.shield(self._listener)

    async def _listen(self) -> None:
        try:
            while True:
                request, length = ANSWER.unpack(await self.output.readexactly(ANSWER.size))
                numbers = np.frombuffer(await self.output.readexactly(length), dtype=np.float32)
                answer = self._waiting.get(request)
                # Nobody waits any more for a request that was cancelled.
                if answer is not None and not answer.done():
                    answer.set_result(numbers)
        except asyncio.IncompleteReadError:
            status = await self.process.wait()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ProcessDied(f"its process ended with status {status}"))
