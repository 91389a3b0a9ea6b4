"""While a backup copies originals none is deleted. What would be deleted stays noted in the outbox, for the next sweep.

The lock belongs to the session of the backup: one that is killed frees it.
"""

from __future__ import annotations

import asyncio

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from service.errors import Conflict

_LOCK = 0x6B656570  # "keep": any number will do, as long as all take the same
_TRIES, _PAUSE_SECONDS = 50, 0.1
_HOLDER = """
    select s.pid, to_char(s.backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
    from pg_locks as l
    join pg_stat_activity as s on s.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' and l.objsubid = 1
        and l.classid = 0 and l.objid = :lock
        and l.database = (select oid from pg_database where datname = current_database())
"""


async def keep_originals(connection: AsyncConnection) -> None:
    """Keep all originals that are referred to from now on, until the session of ``connection`` ends.

    Take the snapshot afterwards. Who deletes asks (`originals_may_go`) after the notes were committed that it acts
    upon, and before it deletes. When it was told yes, this lock was not held yet, so the snapshot sees those notes and
    refers to none of these originals any more.

    Raises:
        Conflict: another backup or restore is at work; the message names its session, and how to end one that hangs.
    """
    for _ in range(_TRIES):
        if await connection.scalar(text("select pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
            return
        await asyncio.sleep(_PAUSE_SECONDS)  # somebody may be asking just now
    raise Conflict(await _who_keeps(connection))


async def _who_keeps(connection: AsyncConnection) -> str:
    holder = (await connection.execute(text(_HOLDER), {"lock": _LOCK})).one_or_none()
    again = "start again when its `fuzi backup` or `fuzi restore` has ended"
    if holder is None:  # it has ended just now
        return f"another backup or restore of this database was at work: {again}"
    pid, since = holder
    return (
        f"another backup or restore of this database is at work, in session {pid} of PostgreSQL since {since}: "
        f"{again}; when none runs any more, because its machine was cut off, `select pg_terminate_backend({pid})` "
        "ends that session"
    )


async def originals_may_go(connection: AsyncConnection) -> bool:
    """Whether originals whose notes are committed already may be deleted now."""
    asked = await connection.scalar(text("select pg_try_advisory_xact_lock_shared(:lock)"), {"lock": _LOCK})
    return bool(asked)
