"""Which keys are valid, as this process knows it: read from the database now and then, not for every request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from service.access.rows import KeyRecord, keys_by_hash, note_use
from service.access.secrets import is_possible, sha256_of
from service.db.engine import database_errors
from service.errors import KeyInvalid, KeyMissing
from service.types import ANYONE, Principal

log = structlog.get_logger()

KNOWN_SECONDS = 2.0
"""So long what was read counts: a key that is revoked is refused everywhere after that."""

_UNKNOWN_SECONDS = 0.2
"""So long a key that is not among those read is not looked for again: guesses cost the database five looks a second."""

_USE_SECONDS = 60.0


class Keyring:
    """Says who a key belongs to.

    All keys are read at once, which is one small message, and kept for `KNOWN_SECONDS`. While the database does not
    answer nobody is let in, since a key may have been revoked.

    Args:
        required: None asks for keys from the first one on that was ever made, even when it is revoked since.
        clock: seconds, for the age of what was read.
        now: for the expiry of keys.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        required: bool | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._required = required
        self._clock = clock
        self._now = now
        self._keys: Mapping[bytes, KeyRecord] = {}
        self._read_at: float | None = None
        self._reading = asyncio.Lock()
        self._used: dict[UUID, datetime] = {}
        self._uses_noted_at = clock()

    async def authenticate(self, key: str | None) -> Principal:
        """Return who sent a key; None is a request without one.

        Raises:
            KeyMissing: keys are wanted here.
            KeyInvalid: it is unknown, revoked or expired.
            DatabaseUnavailable: which keys are valid cannot be read.
        """
        if key is None:
            if await self.is_open():
                return ANYONE
            raise KeyMissing("send an API key, as Authorization: Bearer <key> or X-API-Key: <key>")
        record = await self._find(key)
        if record is None and await self.is_open():
            return ANYONE  # keys are not asked for here, so one too many does no harm
        if record is None or not record.is_valid(self._now()):
            raise KeyInvalid("this API key is not valid (any more)")
        self._used[record.id] = self._now()
        return Principal(record.id, record.name, record.scopes, record.collections)

    async def is_open(self) -> bool:
        """True where no keys are needed."""
        if self._required is not None:
            return not self._required
        return not await self.any_keys()

    async def any_keys(self) -> bool:
        """True when a key was ever made, as far as is known."""
        await self._read(at_most=KNOWN_SECONDS)
        return bool(self._keys)

    def forget(self) -> None:
        """Read the keys anew for the next request: one was changed here."""
        self._read_at = None

    async def close(self) -> None:
        """Note when keys were last used."""
        try:
            await self._note_uses()
        except SQLAlchemyError as error:
            log.warning("key_uses_lost", error=str(error))

    async def _find(self, key: str) -> KeyRecord | None:
        if not is_possible(key):
            return None
        sha256 = sha256_of(key)
        await self._read(at_most=KNOWN_SECONDS)
        if sha256 not in self._keys:
            # it may have been made a moment ago
            await self._read(at_most=_UNKNOWN_SECONDS)
        return self._keys.get(sha256)

    async def _read(self, at_most: float) -> None:
        """Read the keys unless what is known is younger than that; many who ask at once wait for one reading."""
        if self._is_younger(at_most):
            return
        async with self._reading:
            if self._is_younger(at_most):
                return
            begun = self._clock()
            with database_errors():
                async with self._engine.connect() as connection:
                    self._keys = await keys_by_hash(connection)
                self._read_at = begun
                if begun - self._uses_noted_at >= _USE_SECONDS:
                    await self._note_uses()

    def _is_younger(self, seconds: float) -> bool:
        return self._read_at is not None and self._clock() - self._read_at < seconds

    async def _note_uses(self) -> None:
        used, self._used = self._used, {}
        self._uses_noted_at = self._clock()
        if used:
            async with self._engine.begin() as connection:
                await note_use(connection, sorted(used.items()))
