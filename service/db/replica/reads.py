"""Which server a search reads: the replica while it is well, else the primary; and the primary when a read fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
import sqlalchemy.exc
import structlog
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.bm25 import Bm25Health
from service.db.replica.verdict import UNREACHABLE, ReplicaState
from service.errors import Conflict, DatabaseUnavailable, NotFound, NotMigrated
from service.metrics import Metrics

log = structlog.get_logger()

_FAILURES = (
    sqlalchemy.exc.DBAPIError,
    sqlalchemy.exc.TimeoutError,
    psycopg.Error,
    OSError,
    DatabaseUnavailable,
    NotMigrated,
    Conflict,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A server that can be searched, and what is known of its own BM25 indexes."""

    engine: AsyncEngine
    bm25: Bm25Health


class _Gone(Exception):
    """The replica was seen not to answer while a search waited for it."""


@dataclass(slots=True)
class Reads:
    """Where the searches of this process read. Without a replica, or while nobody watches it, on the primary."""

    primary: Place
    replica: Place | None = None
    replica_dsn: str | None = field(default=None, repr=False)
    metrics: Metrics = field(default_factory=Metrics)
    state: ReplicaState = field(default_factory=ReplicaState)
    _gone: asyncio.Event = field(default_factory=asyncio.Event)
    _abandoned: set[asyncio.Future[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.replica is not None:
            event.listen(self.replica.engine.sync_engine, "connect", self._refuse_lost_index)
            self.metrics.replica_seen(used=False, lag_bytes=None, lag_seconds=None)

    def saw(self, state: ReplicaState) -> None:
        """Take note of what is known of the replica now; a change of whether it is read is logged."""
        before, self.state = self.state, state
        if state.reason != before.reason:
            facts = {"reason": state.reason, "lag_seconds": state.lag_seconds, "lag_bytes": state.lag_bytes}
            if state.is_used:
                log.info("replica_used", **facts)
            else:
                log.warning("replica_not_used", message=state.message, **facts)
        if state.reason == UNREACHABLE:
            self._gone.set()
        else:
            self._gone.clear()
        self.metrics.replica_seen(used=state.is_used, lag_bytes=state.lag_bytes, lag_seconds=state.lag_seconds)

    async def serve[Result](self, read: Callable[[Place], Awaitable[Result]]) -> Result:
        """Run ``read`` on the replica, and once more on the primary when that fails; or on the primary at once.

        What ``read`` does before it returns may happen twice. What is not found on the replica is looked for on the
        primary, for it may have been made a moment ago.
        """
        replica = self.replica
        if replica is None or not self.state.is_used or replica.bm25.lost:
            return await read(self.primary)
        try:
            return await self._unless_gone(read, replica)
        except NotFound:
            reason = "not_found"
        except (_Gone, *_FAILURES) as error:
            reason = "failed"
            if _is_cut(error):
                reason = UNREACHABLE
                self.saw(ReplicaState(UNREACHABLE))
            log.warning("replica_read_failed", error=f"{type(error).__name__}: {error}".partition("\n")[0])
        self.metrics.replica_failed_over(reason)
        return await read(self.primary)

    async def _unless_gone[Result](self, read: Callable[[Place], Awaitable[Result]], replica: Place) -> Result:
        """Read, but wait no longer when the replica is seen not to answer: a cut network says nothing to a socket."""
        reading, gone = asyncio.ensure_future(read(replica)), asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({reading, gone}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            raise _Gone("the replica does not answer")
        finally:
            gone.cancel()
            if not reading.done():
                # not waited for: psycopg would wait for the server's word that the statement has ended
                reading.cancel()
                self._abandoned.add(reading)
                reading.add_done_callback(self._forget)

    def _forget(self, reading: asyncio.Future[Any]) -> None:
        self._abandoned.discard(reading)
        if not reading.cancelled():
            reading.exception()  # nobody asks any more

    def _refuse_lost_index(self, _connection: Any, _record: Any) -> None:
        """A crash cuts all connections, and the next one has seen what it took: no search begins on it."""
        if self.replica is not None and self.replica.bm25.lost:
            raise DatabaseUnavailable("the BM25 index of the replica is being rebuilt after a crash")


def _is_cut(error: BaseException) -> bool:
    if isinstance(error, sqlalchemy.exc.DBAPIError):
        return error.connection_invalidated or _is_cut(error.orig or error)
    if isinstance(error, psycopg.errors.QueryCanceled):
        return False
    return isinstance(error, _Gone | psycopg.OperationalError | psycopg.InterfaceError | OSError | DatabaseUnavailable)
