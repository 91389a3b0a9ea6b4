"""What one process knows about the BM25 indexes, kept fresh by every connection that it opens."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import psycopg
import structlog
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from service.db.bm25.repair import Repair
from service.db.bm25.sentinels import READABLE, SENTINELS
from service.db.models import BM25_INDEXES
from service.metrics import Metrics
from service.types import Notice

log = structlog.get_logger()


class Bm25Health:
    """Which BM25 indexes cannot be trusted, as last seen; shared by all that search or report in one process."""

    def __init__(self) -> None:
        self._lost: tuple[str, ...] = ()
        self._seen = False
        self._metrics = Metrics()

    @property
    def lost(self) -> tuple[str, ...]:
        """Indexes without a sentinel: what they find is right, but rows may be missing."""
        return self._lost

    def observe(self, whole: Collection[str]) -> None:
        """Take note of the indexes that have a sentinel now; changes are logged."""
        lost = tuple(name for name in BM25_INDEXES if name not in whole)
        for name in lost:
            if name not in self._lost:
                self._metrics.bm25_lost(name)
                log.warning("bm25_index_lost", index=name)
        for name in self._lost:
            if name not in lost:
                log.info("bm25_index_whole", index=name)
        self._lost, self._seen = lost, True
        self._report()

    def report_to(self, metrics: Metrics) -> None:
        """Keep these metrics up to date from now on; what is lost already counts as lost once."""
        self._metrics = metrics
        for name in self._lost:
            metrics.bm25_lost(name)
        self._report()

    def _report(self) -> None:
        for name in BM25_INDEXES if self._seen else ():
            self._metrics.bm25_seen(name, whole=name not in self._lost)

    def repaired(self, repairs: Iterable[Repair]) -> None:
        """Take note of repairs by this process; what they changed is seen at the next look."""
        for done in repairs:
            self._metrics.bm25_repaired(done.index_name, done.outcome, done.seconds)

    def segments_seen(self, name: str, count: int) -> None:
        """Take note of the number of segments of an index."""
        self._metrics.bm25_segments(name, count)

    def compacted(self, name: str, segment_count: int, seconds: float) -> None:
        """Take note of an index that this process made compact."""
        self._metrics.bm25_repaired(name, "compacted", seconds)
        self.segments_seen(name, segment_count)

    def notices(self) -> list[Notice]:
        """The warning for searches and readiness; empty while all indexes are whole."""
        if not self._lost:
            return []
        message = (
            f"after a crash of PostgreSQL matches by words may be missing until the index is rebuilt "
            f"({', '.join(self._lost)}); a running `fuzi serve` does so, or `fuzi doctor --repair`"
        )
        return [Notice("bm25_rebuilding", message)]


def watch(engine: AsyncEngine) -> Bm25Health:
    """Look at the sentinel on every connection that the engine opens from now on.

    A crash cuts all connections, so no search can run on one that has not seen what the crash left.
    """
    health = Bm25Health()

    async def look(connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.set_autocommit(True)
        readable = await (await connection.execute(READABLE)).fetchone()
        if readable is not None and readable[0]:
            rows = await (await connection.execute(SENTINELS)).fetchall()
            health.observe({row[0] for row in rows})
        await connection.set_autocommit(False)

    def opened(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.run_async(look)

    event.listen(engine.sync_engine, "connect", opened)
    return health
