"""KEY FLOWS: make a key, put another in its place, revoke it. What is done is noted in the same transaction."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from service.access import KeyRecord
from service.access.audit import note_command
from service.access.rows import add_key, end_key, list_keys, lock_keys, note_replacement
from service.access.secrets import make_key
from service.errors import InvalidInput, KeyNameTaken, KeyNotFound, WrongKeyState
from service.types import AccessScope

DEFAULT_GRACE = timedelta(hours=24)
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class KeyParts:
    """What the key flows work with. ``by_command`` notes them as done on the command line."""

    engine: AsyncEngine
    by_command: bool = False
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    random_bytes: Callable[[int], bytes] = secrets.token_bytes


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A key that was just made. ``key`` is shown now and never again; ``replaces`` is the one it takes the place of."""

    key: str
    record: KeyRecord
    replaces: KeyRecord | None = None

    def __repr__(self) -> str:
        """Leave the key out."""
        return f"MadeKey({self.record!r})"


async def create_key(
    parts: KeyParts,
    name: str,
    scopes: Iterable[AccessScope],
    collections: Sequence[str] | None = None,
    lifetime: timedelta | None = None,
) -> MadeKey:
    """Make a key.

    Args:
        collections: names of those that it may see, which need not exist yet; None is all, and those to come.
        lifetime: how long it is valid; None is until it is revoked.

    Raises:
        InvalidInput: the name is blank, too long or has control characters, or no scope or collection is left.
        KeyNameTaken: a valid key has this name.
    """
    name = _checked_name(name)
    wanted = frozenset(scopes)
    if not wanted:
        raise InvalidInput("a key needs a scope: read, write or admin")
    if collections is not None and not all(collections):
        raise InvalidInput("the name of a collection is empty")
    if collections is not None and not collections:
        raise InvalidInput("name at least one collection, or leave them out for all")
    now = parts.now()
    async with parts.engine.begin() as connection:
        await lock_keys(connection)
        if any(key.name == name and key.is_valid(now) for key in await list_keys(connection)):
            raise KeyNameTaken(f"there is a valid key {name!r} already: rotate or revoke it, or choose another name")
        new = make_key(parts.random_bytes)
        record = await add_key(
            connection,
            new,
            name=name,
            scopes=wanted,
            collections=collections,
            expires_at=None if lifetime is None else now + lifetime,
        )
        await _note(parts, connection, "create", record)
    return MadeKey(new.key, record)


async def rotate_key(parts: KeyParts, named: str, grace: timedelta = DEFAULT_GRACE) -> MadeKey:
    """Make a key that may do the same, and let the old one expire after a time of grace.

    The new key lives as long from now on as the old one was to live from its making.

    Args:
        named: id, prefix or name of a valid key.

    Raises:
        KeyNotFound: there is no such key, or several.
        WrongKeyState: it is revoked or expired, or was rotated before.
    """
    now = parts.now()
    async with parts.engine.begin() as connection:
        await lock_keys(connection)
        old = _find(await list_keys(connection), named, now)
        if not old.is_valid(now):
            raise WrongKeyState("this key is revoked or expired: create another")
        if old.replaced_by is not None:
            raise WrongKeyState("another key took the place of this one already: rotate that one")
        new = make_key(parts.random_bytes)
        record = await add_key(
            connection,
            new,
            name=old.name,
            scopes=old.scopes,
            collections=old.collections,
            expires_at=None if old.expires_at is None else now + (old.expires_at - old.created_at),
        )
        await note_replacement(connection, old.id, record.id)
        old = await end_key(connection, old.id, expires_at=now + grace)
        await _note(parts, connection, "rotate", old)
    return MadeKey(new.key, record, old)


async def revoke_key(parts: KeyParts, named: str) -> KeyRecord:
    """Make a key invalid for good; one that is revoked already stays as it is.

    Args:
        named: id, prefix or name.

    Raises:
        KeyNotFound: there is no such key, or several.
    """
    now = parts.now()
    async with parts.engine.begin() as connection:
        await lock_keys(connection)
        record = await end_key(connection, _find(await list_keys(connection), named, now).id, revoked_at=now)
        await _note(parts, connection, "revoke", record)
    return record


async def all_keys(parts: KeyParts) -> list[KeyRecord]:
    """Return all keys that were ever made, newest first."""
    async with parts.engine.connect() as connection:
        return await list_keys(connection)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"the name of a key has 1 to {LONGEST_NAME} printable characters")
    return name


def _find(keys: list[KeyRecord], named: str, now: datetime) -> KeyRecord:
    """The key with this id, else this prefix, else this name; where several have it, the one that can still be used."""
    found = [key for key in keys if named in {str(key.id), key.prefix, key.name}]
    if len(found) > 1:
        found = [key for key in found if key.is_valid(now) and key.replaced_by is None] or [
            key for key in found if key.is_valid(now)
        ]
    if len(found) != 1:
        several = f"{len(found)} keys are called {named!r}: give its id" if found else f"there is no key {named!r}"
        raise KeyNotFound(several)
    return found[0]


async def _note(parts: KeyParts, connection: AsyncConnection, action: str, record: KeyRecord) -> None:
    if parts.by_command:
        await note_command(connection, f"fuzi keys {action}", f"{record.prefix} {record.name}")
