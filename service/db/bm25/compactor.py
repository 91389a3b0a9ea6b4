"""Keeps the BM25 indexes compact without anyone asking: rebuilds one that lies in many segments, when all is at rest.

Each document that is written makes a segment, and each term of a query is looked up in each of them. pg_search merges
them by the layers of the index's options, which left 10 segments of 60,000 chunks; a search took 24 ms of the processor
with them, and 5 with one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.db.bm25.compact import compact
from service.db.bm25.health import Bm25Health
from service.db.bm25.repair import _TAKE_LOCK, LOCK
from service.db.engine import own_connection
from service.db.models import BM25_INDEXES

_FEW_ROWS = 20_000
"""So many are rebuilt in some seconds, whatever came since the last time."""
_AGAIN_SECONDS = 3600.0
"""Between two rebuilds of an index, whatever became of the first: it may have failed, or not have helped."""

_SEGMENTS = text("""
    select i.relname, f.segno, f.num_docs::bigint
    from pg_class as i
    cross join lateral paradedb.index_info(i.oid::regclass) as f
    where i.relnamespace = to_regnamespace('rag') and i.relname = any(:names)
""")
# a job that waits, for a worker or for its next attempt, is no work; one that embeds may not write for minutes
_IS_BUSY = text("select exists (select from rag.job where finished_at is null and status <> 'received')")


@dataclass(frozen=True, slots=True)
class Segments:
    """Segments of an index at one moment: the name of each, which no other ever had, and its rows."""

    rows: frozenset[tuple[str, int]]

    def are_scattered(self, most: int, few_rows: int) -> bool:
        """Whether there are more than ``most``, and a quarter of the rows or more lies outside of the largest.

        A rebuild leaves one segment. So the next one comes when a third as many rows were added, and all rebuilds
        together write each row about four times, however many small documents come one by one. Only of an index of at
        most ``few_rows`` it does not matter where they lie.
        """
        counts = [row_count for _, row_count in self.rows]
        return len(counts) > most and (sum(counts) <= few_rows or 4 * max(counts) <= 3 * sum(counts))


class Compactor:
    """Looks at the segments now and then; of all processes with the same database one rebuilds, under their lock."""

    def __init__(
        self,
        most_segments: int,
        rest_seconds: float,
        *,
        few_rows: int = _FEW_ROWS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._rest_seconds, self._few_rows, self._clock = most_segments, rest_seconds, few_rows, clock
        self._seen: dict[str, tuple[Segments, float]] = {}
        self._not_before: dict[str, float] = {}

    async def look(self, engine: AsyncEngine, health: Bm25Health) -> None:
        """Report the segments, and rebuild what is due. An index that lost rows is left to the repair.

        Raises:
            sqlalchemy.exc.DBAPIError: no rights to rebuild, or the server is gone; the next try comes in an hour.
        """
        async with own_connection(engine) as connection:
            found = await read_segments(connection)
            for name, segments in found.items():
                health.segments_seen(name, len(segments.rows))
            due = [name for name, segments in found.items() if self._is_due(name, segments)]
            if not due or health.lost or await connection.scalar(_IS_BUSY):
                return
            if not await connection.scalar(_TAKE_LOCK, {"lock": LOCK}):
                return
            # another process may have done it between the look and the lock
            found = await read_segments(connection)
            for name in due:
                if name in found and self._are_scattered(found[name]):
                    self._not_before[name] = self._clock() + _AGAIN_SECONDS
                    begun = self._clock()
                    _, after = await compact(connection, name)
                    health.compacted(name, after, self._clock() - begun)

    def _is_due(self, name: str, segments: Segments) -> bool:
        now = self._clock()
        before, since = self._seen.get(name, (None, now))
        if before != segments:
            self._seen[name] = segments, now
            return False
        is_at_rest = now - since >= self._rest_seconds
        return is_at_rest and now >= self._not_before.get(name, now) and self._are_scattered(segments)

    def _are_scattered(self, segments: Segments) -> bool:
        return segments.are_scattered(self._most, self._few_rows)


async def read_segments(connection: AsyncConnection) -> dict[str, Segments]:
    """Segments of each BM25 index that has any."""
    rows: dict[str, set[tuple[str, int]]] = {}
    for name, segment, row_count in await connection.execute(_SEGMENTS, {"names": list(BM25_INDEXES)}):
        rows.setdefault(name, set()).add((segment, row_count))
    return {name: Segments(frozenset(found)) for name, found in rows.items()}
