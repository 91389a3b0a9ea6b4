"""What a process knows of the keys: for how long, and how often it asks the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

from service.access import Keyring
from service.access.keyring import KNOWN_SECONDS
from service.config import DatabaseSettings, SearchSettings
from service.db.engine import create_engine
from service.errors import DatabaseUnavailable, KeyInvalid, KeyMissing
from service.flows.keys import KeyParts, create_key, revoke_key
from service.types import ANYONE, AccessScope


@dataclass
class World:
    """A database with the statements that were sent to it, and a clock that is turned by hand."""

    engine: AsyncEngine
    statements: list[str] = field(default_factory=list)
    seconds: float = 1000.0

    @property
    def parts(self) -> KeyParts:
        return KeyParts(self.engine)

    def keyring(self, required: bool | None = None) -> Keyring:
        return Keyring(self.engine, required, clock=lambda: self.seconds, now=self.now)

    def now(self) -> datetime:
        return datetime(2026, 12, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    engine = create_engine(database, DatabaseSettings(connect_timeout_seconds=30), SearchSettings())
    made = World(engine)
    event.listen(engine.sync_engine, "before_cursor_execute", lambda *call: made.statements.append(call[2]))
    yield made
    await engine.dispose()


async def test_requests_with_a_key_cost_one_look_in_two_seconds(world: World) -> None:
    key = (await create_key(world.parts, "a", [AccessScope.READ], ["x"])).key
    keyring = world.keyring()
    world.statements.clear()
    principals = await asyncio.gather(*(keyring.authenticate(key) for _ in range(50)))
    assert {principal.name for principal in principals} == {"a"}
    assert principals[0].visible() == ("x",)
    world.seconds += KNOWN_SECONDS - 0.01
    await keyring.authenticate(key)
    assert len(world.statements) == 1
    world.seconds += 0.02
    await keyring.authenticate(key)
    assert len(world.statements) == 2


async def test_a_revoked_key_is_known_no_longer_than_that(world: World) -> None:
    assert KNOWN_SECONDS <= 5
    key = (await create_key(world.parts, "a", [AccessScope.READ])).key
    keyring = world.keyring()
    await keyring.authenticate(key)
    await revoke_key(world.parts, "a")
    assert (await keyring.authenticate(key)).name == "a"
    world.seconds += KNOWN_SECONDS
    with pytest.raises(KeyInvalid):
        await keyring.authenticate(key)
    with pytest.raises(KeyMissing):
        await keyring.authenticate(None)


async def test_a_key_expires_by_the_clock_although_nothing_is_read(world: World) -> None:
    parts = KeyParts(world.engine, now=world.now)
    key = (await create_key(parts, "a", [AccessScope.READ], lifetime=timedelta(seconds=1))).key
    keyring = world.keyring()
    await keyring.authenticate(key)
    world.seconds += 1
    with pytest.raises(KeyInvalid):
        await keyring.authenticate(key)


async def test_guesses_do_not_become_looks(world: World) -> None:
    await create_key(world.parts, "a", [AccessScope.READ])
    keyring = world.keyring()
    await keyring.any_keys()
    world.seconds += 0.5
    world.statements.clear()
    for number in range(100):
        for guess in (f"fuzi_{number:043d}", f"fuzi_{number}", "", "Basic x"):
            with pytest.raises(KeyInvalid):
                await keyring.authenticate(guess)
    assert len(world.statements) == 1


async def test_a_new_key_is_known_at_once_to_who_has_not_looked_lately(world: World) -> None:
    keyring = world.keyring()
    assert await keyring.authenticate(None) is ANYONE
    world.seconds += 0.5
    key = (await create_key(world.parts, "a", [AccessScope.READ])).key
    assert (await keyring.authenticate(key)).name == "a"
    with pytest.raises(KeyMissing):
        await keyring.authenticate(None)


async def test_settings_come_before_what_is_in_the_database(world: World) -> None:
    with pytest.raises(KeyMissing):
        await world.keyring(required=True).authenticate(None)
    key = (await create_key(world.parts, "a", [AccessScope.READ])).key
    open_to_all = world.keyring(required=False)
    assert await open_to_all.authenticate(None) is ANYONE
    assert (await open_to_all.authenticate(key)).name == "a"


async def test_nobody_is_let_in_while_the_database_is_away(world: World, database: str) -> None:
    key = (await create_key(world.parts, "a", [AccessScope.READ])).key
    keyring = world.keyring()
    await keyring.authenticate(key)
    with psycopg.connect(database.rsplit("/", 1)[0] + "/postgres", autocommit=True) as connection:
        name = database.rsplit("/", 1)[1].split("?", maxsplit=1)[0]
        connection.execute(f'alter database "{name}" with allow_connections false')  # type: ignore[arg-type]
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
    assert (await keyring.authenticate(key)).name == "a"
    world.seconds += KNOWN_SECONDS
    for given in (key, None):
        with pytest.raises(DatabaseUnavailable):
            await keyring.authenticate(given)


async def test_the_last_use_is_noted_now_and_then_and_at_the_end(world: World, database: str) -> None:
    key = (await create_key(world.parts, "a", [AccessScope.READ])).key
    keyring = world.keyring()
    await keyring.authenticate(key)

    def last_used() -> object:
        with psycopg.connect(database) as connection:
            row = connection.execute("select last_used_at from rag.api_key").fetchone()
        return row and row[0]

    assert last_used() is None
    used = world.now()
    world.seconds += 61
    await keyring.any_keys()
    assert last_used() == used
    await keyring.authenticate(key)
    await keyring.close()
    assert last_used() == world.now()


async def test_analysts_see_neither_hashes_nor_who_did_what(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        roles = connection.execute("select rolname from pg_roles where rolname like 'rag\\_%%'").fetchall()
        assert ("rag_analyst",) in roles
        for (role,) in roles:
            for table in ("rag.api_key", "rag.audit_log"):
                assert connection.execute("select has_table_privilege(%s, %s, 'select')", [role, table]).fetchone() == (
                    False,
                )
                assert connection.execute(
                    "select has_any_column_privilege(%s, %s, 'select')", [role, table]
                ).fetchone() == (False,)
