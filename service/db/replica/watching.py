"""Looks at both servers once a second, beside the searches, and tells `Reads` what it sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import psycopg
import structlog

from service.db.replica import copied, primary
from service.db.replica.copied import ReplicaFacts
from service.db.replica.lag import LagClock
from service.db.replica.primary import PrimaryFacts
from service.db.replica.reads import Reads
from service.db.replica.session import Session, looking
from service.db.replica.verdict import UNREACHABLE, ReplicaState, bytes_behind, lag_reason, standing

log = structlog.get_logger()

_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 2.0


class Unanswered(Exception):
    """A server did not answer a look."""


class Eye[Facts]:
    """Looks at one server over a session that it keeps; a look that hangs is not waited for, nor begun twice."""

    def __init__(self, dsn: str, look: Callable[[Session], Awaitable[Facts]], patience_seconds: float) -> None:
        self._dsn, self._look, self._patience = dsn, look, patience_seconds
        self._session: Session | None = None
        self._task: asyncio.Task[Facts] | None = None

    async def look(self) -> Facts:
        """What the server says now.

        Raises:
            Unanswered: it says nothing in time.
        """
        task = self._task = self._task or asyncio.create_task(self._ask())
        await asyncio.wait({task}, timeout=self._patience)
        if not task.done():
            raise Unanswered("no answer in time")
        self._task = None
        try:
            return task.result()
        except (psycopg.Error, OSError) as error:
            await self._close()
            raise Unanswered(str(error)) from error

    async def close(self) -> None:
        """Let go of the session; a look that hangs is given up."""
        if self._task is not None:
            self._task.cancel()
        await self._close()

    async def _ask(self) -> Facts:
        if self._session is None or self._session.closed:
            self._session = await looking(self._dsn, self._patience)
        return await self._look(self._session)

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(psycopg.Error, OSError):
                await session.close()


@asynccontextmanager
async def watching(
    reads: Reads,
    primary_dsn: str,
    *,
    most_lag_seconds: float,
    look_seconds: float = _LOOK_SECONDS,
    patience_seconds: float = _PATIENCE_SECONDS,
) -> AsyncIterator[None]:
    """Let searches read the replica, while the block runs, whenever it is well; does nothing without a replica.

    Args:
        most_lag_seconds: what the replica shows may be so old.
        patience_seconds: a server that does not answer a look for so long counts as gone.
    """
    if reads.replica_dsn is None:
        yield
        return
    watcher = Watcher(reads, primary_dsn, reads.replica_dsn, most_lag_seconds, patience_seconds)
    await watcher.look()
    task = asyncio.create_task(watcher.keep_looking(look_seconds), name="replica")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        reads.state = ReplicaState()
        await watcher.close()


class Watcher:
    """What one process remembers between two looks."""

    def __init__(
        self, reads: Reads, primary_dsn: str, replica_dsn: str, most_lag_seconds: float, patience_seconds: float
    ) -> None:
        self._reads, self._most_lag = reads, most_lag_seconds
        self._slot: str | None = None
        self._known: PrimaryFacts | None = None
        self._lag, self._lag_reason = LagClock(), lag_reason(None, most_lag_seconds)
        self._replica = Eye(replica_dsn, copied.facts, patience_seconds)
        self._primary = Eye(primary_dsn, lambda session: primary.facts(session, self._slot), patience_seconds)

    async def keep_looking(self, look_seconds: float) -> None:
        """Look again and again; never returns."""
        while True:
            await asyncio.sleep(look_seconds)
            try:
                await self.look()
            except Exception as error:
                log.warning("replica_watch_failed", error=str(error))
                self._reads.saw(ReplicaState("unknown"))

    async def look(self) -> None:
        """Look at both servers and judge."""
        try:
            replica = await self._replica.look()
        except Unanswered:
            self._reads.saw(ReplicaState(UNREACHABLE))
            return
        self._slot = None if replica is None else replica.slot_name
        if replica is not None and self._reads.replica is not None:
            self._reads.replica.bm25.observe(replica.whole)
        self._reads.saw(await self._judge(replica))

    async def close(self) -> None:
        """Close both sessions."""
        await self._replica.close()
        await self._primary.close()

    async def _judge(self, replica: ReplicaFacts | None) -> ReplicaState:
        now = asyncio.get_running_loop().time()
        try:
            self._known = await self._primary.look() or self._known
            answers = True
        except Unanswered:
            # Nothing can be written, so the replica grows no older: searches go on through the primary's absence.
            answers = False
        known = self._known
        if known is None:
            return ReplicaState("unknown")
        seconds = None
        if answers:
            self._lag.mark(now, known.written)
            seconds = None if known.applied is None else self._lag.seconds(now, known.applied)
            self._lag_reason = lag_reason(seconds, self._most_lag)
        return ReplicaState(standing(known, replica) or self._lag_reason, bytes_behind(known), seconds)
