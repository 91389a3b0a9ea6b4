"""One parser process, seen from the service."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from typing import Any

import psutil

from service.config import ExtractSettings
from service.errors import ExtractorUnavailable
from service.extract.guard.messages import LENGTH_BYTES, frame

_STDERR_LINES = 40
_START_SECONDS = 120.0
"""Generous: a child needs half a second on an idle machine, all of it for imports."""
_LONGEST_INLINE = 1 << 18
"""Answers up to this many bytes are parsed on the event loop, in about a millisecond."""
_GOODBYE_SECONDS = 2.0


class ParserDied(Exception):
    """The process ended without an answer; ``complaint`` is the end of what it wrote to standard error."""

    def __init__(self, return_code: int | None, complaint: str) -> None:
        super().__init__(f"parser process ended with {return_code}: {complaint[-300:]}")
        self.return_code = return_code
        self.complaint = complaint


class ParserProcess:
    """A child that reads one file after the other. Not for concurrent use."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._complaints: deque[str] = deque(maxlen=_STDERR_LINES)
        self._listener = asyncio.create_task(self._listen())
        self.files_read = 0
        self.is_over_memory = False
        """True once it was killed for its memory."""

    @classmethod
    async def start(cls, settings: ExtractSettings) -> ParserProcess:
        """Start a child with these limits and wait until it is ready.

        It has its own process group, so that its children die with it.

        Raises:
            ExtractorUnavailable: it ended or did not come up.
        """
        environment = {
            **os.environ,
            "TIKA_CLIENT_ONLY": "true",  # the tika package downloads and starts a server without it
            "TIKA_LOG_FILE": "",  # and writes a log file into the folder for temporary files
            "OMP_THREAD_LIMIT": "1",  # Tesseract is faster with one thread a page
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "service.extract.worker",
            settings.model_dump_json(),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            start_new_session=True,
        )
        started = cls(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await started._answer()
        except (TimeoutError, ParserDied) as error:
            await started.kill()
            reason = "\n".join(started._complaints)[-500:]
            raise ExtractorUnavailable("the parser process does not start", reason=reason) from error
        except BaseException:
            await asyncio.shield(started.kill())
            raise
        return started

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """True while the process has not ended; asks the kernel, the event loop learns of an end only later."""
        if self._process.returncode is not None:
            return False
        if not hasattr(os, "waitid"):
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    def memory_mb(self, *, with_children: bool = False) -> int:
        """Resident memory of the process, 0 when it has ended. Children (Tesseract) cost a look at every process."""
        total = 0
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            children = process.children(recursive=True) if with_children else ()
            for one in (process, *children):
                with contextlib.suppress(psutil.Error):
                    total += one.memory_info().rss
        return total >> 20

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one message and wait for its answer.

        Raises:
            ParserDied: the process ended instead of answering.
        """
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101  it is a pipe
        with contextlib.suppress(ConnectionError):  # a dead process shows when its answer is read
            stdin.write(frame(message))
            await stdin.drain()
        answer = await self._answer()
        self.files_read += 1
        return answer

    async def kill(self) -> None:
        """End the process and its children at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()
        await self._ended()

    async def dismiss(self) -> None:
        """Let an idle process end by itself, then make sure."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GOODBYE_SECONDS)
        await self.kill()

    async def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101  it is a pipe
        try:
            length = int.from_bytes(await stdout.readexactly(LENGTH_BYTES), "big")
            body = await stdout.readexactly(length)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            await self.kill()
            raise ParserDied(self._process.returncode, "\n".join(self._complaints)) from error
        is_long = length > _LONGEST_INLINE
        answer: dict[str, Any] = await asyncio.to_thread(json.loads, body) if is_long else json.loads(body)
        return answer

    async def _ended(self) -> None:
        # a killed process that the kernel holds, or of whose end nobody hears, must not keep a service from stopping
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GOODBYE_SECONDS)
        await asyncio.wait([self._listener], timeout=_GOODBYE_SECONDS)
        self._listener.cancel()
        self._process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves the pipes open

    async def _listen(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None  # noqa: S101  it is a pipe
        while line := await stderr.read(4096):
            self._complaints.append(line.decode("utf-8", "replace"))
