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


async def keep_originals(connection: AsyncConnection) -> None:
    """Keep all originals that are referred to from now on, until the session of ``connection`` ends.

    Take the snapshot afterwards. Who deletes asks (`originals_may_go`) after the notes were committed that it acts
    upon, and before it deletes. When it was told yes, this lock was not held yet, so the snapshot sees those notes and
    refers to none of these originals any more.

    Raises:
        Conflict: another backup or restore is at work.
    """
    for _ in range(_TRIES):
        if await connection.scalar(text("select pg_try_advisory_lock(:lock)"), {"lock": _LOCK}):
            return
        await asyncio.sleep(_PAUSE_SECONDS)  # somebody may be asking just now
    raise Conflict("another backup or restore of this database is at work")


async def originals_may_go(connection: AsyncConnection) -> bool:
    """Whether originals whose notes are committed already may be deleted now."""
    asked = await connection.scalar(text("select pg_try_advisory_xact_lock_shared(:lock)"), {"lock": _LOCK})
    return bool(asked)
