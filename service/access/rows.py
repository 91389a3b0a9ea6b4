"""Rows of keys: add, list, find, end. Callers own the transaction; nothing here commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BindParameter, Row, bindparam, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from service.access.secrets import NewKey
from service.db.access_models import ApiKey
from service.types import AccessScope


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key without the key itself; ``collections`` is None for all."""

    id: UUID
    name: str
    prefix: str
    scopes: frozenset[AccessScope]
    collections: frozenset[str] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    replaced_by: UUID | None

    def is_valid(self, now: datetime) -> bool:
        """True while it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


_COLUMNS = [getattr(ApiKey, name) for name in KeyRecord.__slots__]


def _record(row: Row[Any]) -> KeyRecord:
    values = {name: getattr(row, name) for name in KeyRecord.__slots__}
    collections = values["collections"]
    values["collections"] = None if collections is None else frozenset(collections)
    values["scopes"] = frozenset(AccessScope(scope) for scope in values["scopes"])
    return KeyRecord(**values)


async def add_key(
    connection: AsyncConnection,
    new: NewKey,
    *,
    name: str,
    scopes: Iterable[AccessScope],
    collections: Iterable[str] | None,
    expires_at: datetime | None,
) -> KeyRecord:
    """Keep a key that was made."""
    statement = insert(ApiKey).values(
        name=name,
        prefix=new.prefix,
        key_sha256=new.sha256,
        scopes=[scope for scope in AccessScope if scope in set(scopes)],
        collections=None if collections is None else sorted(set(collections)),
        expires_at=expires_at,
    )
    return _record((await connection.execute(statement.returning(*_COLUMNS))).one())


async def list_keys(connection: AsyncConnection) -> list[KeyRecord]:
    """Return all keys that were ever made, newest first."""
    rows = await connection.execute(select(*_COLUMNS).order_by(ApiKey.created_at.desc(), ApiKey.id))
    return [_record(row) for row in rows]


async def lock_keys(connection: AsyncConnection) -> None:
    """Let changes of keys pass one after the other, until the end of the transaction.

    By a lock of the table, which nobody can take who has no rights on it: a key has to be revoked at any time.
    """
    await connection.execute(text("lock table rag.api_key in share row exclusive mode"))


async def keys_by_hash(connection: AsyncConnection) -> Mapping[bytes, KeyRecord]:
    """Return every key that was ever made by its SHA-256."""
    rows = await connection.execute(select(ApiKey.key_sha256, *_COLUMNS))
    return {row.key_sha256: _record(row) for row in rows}


async def end_key(
    connection: AsyncConnection, key_id: UUID, *, revoked_at: datetime | None = None, expires_at: datetime | None = None
) -> KeyRecord:
    """Revoke a key, or let it expire at a time, unless it would expire sooner by itself."""
    statement = update(ApiKey).where(ApiKey.id == key_id)
    if revoked_at is not None:
        statement = statement.values(revoked_at=func.coalesce(ApiKey.revoked_at, revoked_at))
    if expires_at is not None:
        statement = statement.values(expires_at=func.least(func.coalesce(ApiKey.expires_at, expires_at), expires_at))
    return _record((await connection.execute(statement.returning(*_COLUMNS))).one())


async def note_replacement(connection: AsyncConnection, key_id: UUID, replaced_by: UUID) -> None:
    """Note which key took the place of one."""
    await connection.execute(update(ApiKey).where(ApiKey.id == key_id).values(replaced_by=replaced_by))


async def note_use(connection: AsyncConnection, used: Sequence[tuple[UUID, datetime]]) -> None:
    """Note when keys were last seen; an older time than the one that is known changes nothing."""
    at: BindParameter[datetime] = bindparam("at")
    statement = (
        update(ApiKey)
        .where(ApiKey.id == bindparam("key_id"), or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < at))
        .values(last_used_at=at)
    )
    await connection.execute(
        statement.execution_options(synchronize_session=None), [{"key_id": key_id, "at": seen} for key_id, seen in used]
    )
