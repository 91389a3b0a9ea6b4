"""Connections of the service: ready when they are opened, replaced when the server went away, errors mapped."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncEngine

from service.config import DatabaseSettings, SearchSettings, Settings
from service.db.embedded import EmbeddedServer
from service.db.engine import WARM_TOKENIZERS, create_engine, database_errors, driver_url, writing
from service.db.migrate import upgrade
from service.errors import Conflict, DatabaseUnavailable, Misconfigured
from tests.database.chunk_rows import Child, collection, document, search_connection, unit_vector


@pytest.fixture
async def engine(database: str) -> AsyncIterator[AsyncEngine]:
    """Engine on a fresh database, with the service's defaults."""
    made = create_engine(database, DatabaseSettings(pool_size=3), SearchSettings())
    yield made
    await made.dispose()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_parallel_workers_per_gather", "0"),
        ("plan_cache_mode", "force_custom_plan"),
        ("hnsw.ef_search", "400"),
        ("hnsw.iterative_scan", "relaxed_order"),
        ("jit", "off"),
        ("statement_timeout", "30s"),
        ("application_name", "fuzi"),
    ],
)
async def test_every_connection_has_its_settings_from_the_start(engine: AsyncEngine, name: str, value: str) -> None:
    async with engine.connect() as connection:
        assert (await connection.execute(text("select current_setting(:name)"), {"name": name})).scalar_one() == value
        # from the opening on, and not by a later `set`: a plan made before would not know it
        source = await connection.execute(text("select source from pg_settings where name = :name"), {"name": name})
        assert source.scalar_one_or_none() in {"client", None}  # None: the library of hnsw.… is not loaded yet


async def test_ef_search_is_raised_to_the_candidates(database: str) -> None:
    engine = create_engine(database, DatabaseSettings(), SearchSettings(candidates=400, ef_search=100))
    async with engine.connect() as connection:
        assert (await connection.execute(text("show hnsw.ef_search"))).scalar_one() == "400"
    await engine.dispose()


async def test_connections_are_warmed_with_what_the_index_cuts_texts_with(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        index = await connection.execute(text("select pg_get_indexdef('rag.child_chunk_bm25'::regclass)"))
        body = await connection.execute(
            text("select pg_get_functiondef(p.oid) from pg_proc as p where p.proname = 'fts_query'")
        )
        used, asked = index.scalar_one(), "".join(body.scalar_one().split())
    tokenizers = re.findall(r"\b(search_\w+)\(content\)\)::(pdb\.\w+\([^)]*\))", used)
    assert len(tokenizers) == 2
    for expression, tokenizer in tokenizers:
        # the server writes numbers as text: '2', '2'
        options = re.sub(r"'(\d+)'", r"\1", tokenizer)
        of_query = expression.replace("search_characters", "query_characters")
        assert f"rag.{of_query}(query_text)::{options}::text[]".replace(" ", "") in asked
    assert re.findall(r"rag\.(\w+)", WARM_TOKENIZERS) == ["fts_query"]


async def test_vectors_go_in_and_come_out(engine: AsyncEngine) -> None:
    vector = np.arange(3, dtype=np.float32)
    async with engine.connect() as connection:
        back = (
            await connection.execute(text("select :vector <=> :vector, cast(:vector as vector)"), {"vector": vector})
        ).one()
    assert back[0] == pytest.approx(0)
    assert back[1].to_list() == [0, 1, 2]


async def test_the_search_path_begins_with_the_catalog_and_ends_with_temporary_tables(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        path = (await connection.execute(text("show search_path"))).scalar_one().split(", ")
    assert path[:2] == ["pg_catalog", "rag"]
    assert path[-2:] == ["public", "pg_temp"]


async def test_a_database_without_schema_or_extensions_can_be_connected_to(empty_database: str) -> None:
    engine = create_engine(empty_database, DatabaseSettings(), SearchSettings())
    async with engine.connect() as connection:
        assert (await connection.execute(text("select 1"))).scalar_one() == 1
        assert "public" not in (await connection.execute(text("show search_path"))).scalar_one()
    await engine.dispose()


async def test_vector_types_are_found_in_another_schema(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        connection.execute('create schema "My Extensions"')
        connection.execute('create extension vector schema "My Extensions"')
        connection.execute("create extension pg_search")
    engine = create_engine(empty_database, DatabaseSettings(), SearchSettings())
    async with engine.connect() as opened:
        distance = await opened.execute(text("select :a <=> :b"), {"a": np.ones(2), "b": np.ones(2)})
        assert distance.scalar_one() == pytest.approx(0)
    await engine.dispose()


async def test_opened_connections_hold_no_transaction(engine: AsyncEngine) -> None:
    async with engine.connect():
        pass
    async with engine.connect() as connection:
        states = await connection.execute(
            text(
                "select state from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
            )
        )
        assert all(state == "idle" for state in states.scalars())


async def test_writing_has_no_statement_timeout_and_commits(engine: AsyncEngine) -> None:
    async with writing(engine) as connection:
        assert (await connection.execute(text("show statement_timeout"))).scalar_one() == "0"
        await connection.execute(text("insert into rag.collection (name) values ('kept')"))

    async def fail() -> None:
        async with writing(engine) as connection:
            await connection.execute(text("insert into rag.collection (name) values ('lost')"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with engine.connect() as connection:
        assert (await connection.execute(text("select name from rag.collection"))).scalars().all() == ["kept"]
        assert (await connection.execute(text("show statement_timeout"))).scalar_one() == "30s"


@pytest.fixture
def own_server(home: Path) -> EmbeddedServer:
    """A server of this test's own, which it may restart."""
    return EmbeddedServer(home, options={"fsync": "off"})


@pytest.mark.case("BR-078")
async def test_searches_go_on_after_a_restart_of_the_server(own_server: EmbeddedServer) -> None:
    address = await asyncio.to_thread(own_server.start)
    await asyncio.to_thread(upgrade, address.dsn, Settings(_env_file=None))
    with search_connection(address.dsn) as connection:
        document(connection, collection(connection, "c"), "s", [[Child("合同", unit_vector(0))]])
    engine = create_engine(address.dsn, DatabaseSettings(pool_size=3), SearchSettings())
    search = text("select count(*) from rag.hybrid_search('合同', :vector)")

    async def ten() -> list[int]:
        async def one() -> int:
            async with engine.connect() as connection:
                return int((await connection.execute(search, {"vector": unit_vector(0)})).scalar_one())

        return [await one() for _ in range(7)] + await asyncio.gather(one(), one(), one())

    assert await ten() == [1] * 10
    await asyncio.to_thread(own_server.stop)
    with pytest.raises(DatabaseUnavailable), database_errors():
        await ten()
    again = await asyncio.to_thread(own_server.start)
    assert again.port == address.port
    assert await ten() == [1] * 10
    await engine.dispose()


async def test_the_connection_that_was_used_last_is_used_next(engine: AsyncEngine) -> None:
    pid = text("select pg_backend_pid()")
    async with engine.connect() as one, engine.connect() as two:
        pids = [await one.scalar(pid), await two.scalar(pid)]
        assert pids[0] != pids[1]
    used = list[object]()
    for _ in range(3):
        async with engine.connect() as connection:
            used.append(await connection.scalar(pid))
    assert used == [pids[0]] * 3, "`one` was given back last"


async def test_a_cut_connection_is_a_database_that_is_unavailable(engine: AsyncEngine, database: str) -> None:
    async with engine.connect() as connection:
        pid = (await connection.execute(text("select pg_backend_pid()"))).scalar_one()
        with psycopg.connect(database, autocommit=True) as administrator:
            administrator.execute("select pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises(DatabaseUnavailable) as caught, database_errors():
            await connection.execute(text("select 1"))
    assert caught.value.retryable
    assert caught.value.__cause__ is not None
    async with engine.connect() as connection:
        assert (await connection.execute(text("select 1"))).scalar_one() == 1


async def test_what_takes_too_long_is_unavailable(database: str) -> None:
    engine = create_engine(database, DatabaseSettings(statement_timeout_seconds=0.2), SearchSettings())
    with pytest.raises(DatabaseUnavailable, match="in time"), database_errors():
        async with engine.connect() as connection:
            await connection.execute(text("select pg_sleep(30)"))
    await engine.dispose()


async def test_an_exhausted_pool_is_unavailable(database: str) -> None:
    settings = DatabaseSettings(pool_size=1, statement_timeout_seconds=0.2)
    engine = create_engine(database, settings, SearchSettings())
    async with engine.connect():
        with pytest.raises(DatabaseUnavailable, match="in use"), database_errors():
            async with engine.connect():
                pass
    await engine.dispose()


async def test_no_server_is_unavailable() -> None:
    engine = create_engine("postgresql://fuzi@127.0.0.1:1/none", DatabaseSettings(), SearchSettings())
    with pytest.raises(DatabaseUnavailable), database_errors():
        async with engine.connect():
            pass


async def test_a_deadlock_is_a_conflict(engine: AsyncEngine) -> None:
    async with writing(engine) as connection:
        await connection.execute(text("insert into rag.collection (name) values ('a'), ('b')"))
    update = text("update rag.collection set updated_at = now() where name = :name")
    first_has_a, second_has_b = asyncio.Event(), asyncio.Event()

    async def lock(first: str, second: str, mine: asyncio.Event, other: asyncio.Event) -> None:
        with database_errors():
            async with engine.begin() as connection:
                await connection.execute(text("set local deadlock_timeout = '50ms'"))
                await connection.execute(update, {"name": first})
                mine.set()
                await other.wait()
                await connection.execute(update, {"name": second})

    outcomes = await asyncio.gather(
        lock("a", "b", first_has_a, second_has_b),
        lock("b", "a", second_has_b, first_has_a),
        return_exceptions=True,
    )
    assert sorted(type(outcome) for outcome in outcomes if outcome is not None) == [Conflict]


async def test_errors_in_a_statement_pass_through(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        with pytest.raises(ProgrammingError), database_errors():
            await connection.execute(text("select nothing from nowhere"))
        await connection.rollback()
        with pytest.raises(IntegrityError), database_errors():
            await connection.execute(text("insert into rag.collection (name) values ('')"))


@pytest.mark.parametrize("dsn", ["mysql://u:hunter2@h/d", "nonsense hunter2", ""])
def test_a_bad_url_is_refused_without_repeating_its_password(dsn: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        driver_url(dsn)
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:p@h:5/d?sslmode=require",
        "postgres://u:p@h:5/d",
        "postgresql+psycopg://u:p@h:5/d",
        "postgresql://u:p@/d?host=%2Frun%2Fpg",
    ],
)
def test_every_form_of_a_postgresql_url_is_understood(dsn: str) -> None:
    url = driver_url(dsn)
    assert url.drivername == "postgresql+psycopg"
    assert url.database == "d"
    assert url.query == make_url(dsn).query
