"""Keeps the embedded server running while a service needs it: one that was killed is started again.

A server that somebody stopped (`fuzi db stop`, the machine going down) says so in its control file and stays stopped.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from service.db.embedded.server import EmbeddedServer
from service.errors import FuziError

log = structlog.get_logger()

_LOOK_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 60.0


class ServerKeeper:
    """What a process that keeps its embedded server running knows about it."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._trouble: str | None = None

    def advice(self) -> str:
        """What readiness tells somebody who finds that the database does not answer."""
        if self._trouble is not None:
            return self._trouble
        if self._server.was_killed():
            return "the embedded server was killed and is started again at once"
        return "`fuzi db start` starts the embedded server"

    async def keep(self, look_seconds: float, longest_wait_seconds: float) -> None:
        """Look now and then, and start the server again when it was killed; never returns."""
        wait = look_seconds
        while True:
            await asyncio.sleep(wait)
            wait = look_seconds if await self._look() else min(2 * wait, longest_wait_seconds)

    async def _look(self) -> bool:
        """Start the server if it was killed; False when that did not go well."""
        if not self._server.was_killed():
            self._trouble = None
            return True
        self._trouble = "the embedded server was killed and is being started again"
        log.warning("embedded_server_killed")
        try:
            await _in_background(self._server.start)
        except FuziError as error:
            self._trouble = f"the embedded server was killed and does not start again: {error.message}"
            log.error("embedded_server_not_restarted", code=error.code, message=error.message)  # noqa: TRY400 - says it all
            return False
        log.info("embedded_server_restarted")
        self._trouble = None
        return True


@asynccontextmanager
async def keeping(
    server: EmbeddedServer,
    *,
    look_seconds: float = _LOOK_SECONDS,
    longest_wait_seconds: float = _LONGEST_WAIT_SECONDS,
) -> AsyncIterator[ServerKeeper]:
    """Keep the server running while the block runs; any number of processes may keep the same one.

    Args:
        look_seconds: time between two looks.
        longest_wait_seconds: a start that failed is tried again after waits that double up to this.
    """
    keeper = ServerKeeper(server)
    task = asyncio.create_task(keeper.keep(look_seconds, longest_wait_seconds), name="embedded server")
    try:
        yield keeper
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _in_background(work: Callable[[], object]) -> None:
    """Run blocking work in a thread that keeps no process from ending: recovery may take minutes."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end(error: BaseException | None) -> None:
        if not done.done():
            done.set_result(None) if error is None else done.set_exception(error)

    def run() -> None:
        error: BaseException | None = None
        try:
            work()
        except BaseException as failure:
            error = failure
        with suppress(RuntimeError):  # nobody waits any more: the loop is closed
            loop.call_soon_threadsafe(end, error)

    threading.Thread(target=run, name="embedded server", daemon=True).start()
    await done
