"""An import into an empty database builds the index of the vectors at the end; broken off, others build it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from service.cli.work.checks import State
from service.cli.work.database_checks import check_database
from service.db.bm25.guard import guarding
from service.db.spaces.alone import alone
from service.db.spaces.deferred import STAND_IN, build_deferred, build_left_behind, defer_index
from service.errors import Conflict
from service.flows.archives import take_in as importing
from service.flows.archives.backup import backup
from service.flows.archives.export import export
from service.flows.archives.parts import ArchiveParts
from service.flows.archives.restore import restore
from service.flows.archives.take_in import ImportParts, take_in
from service.flows.reembed.change import drop_old
from service.store.portable.records import PortableVersion
from service.wiring import Services
from service.worker import working
from tests.conftest import Databases
from tests.database.chunk_rows import Child, collection, document, random_vector, search_connection
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.archives.moving import parts_of
from tests.flows.conftest import Library, flow_settings, idle_services

HNSW = "child_chunk_embedding_hnsw"
_INDEXES = """
    select indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisvalid and indisready
    from pg_index where indrelid = 'rag.child_chunk'::regclass order by 1
"""
_ENTERED = "select reltuples::bigint from pg_class where relname = %s"


def indexes(services: Services) -> list[Any]:
    with psycopg.connect(dsn_of(services)) as connection:
        return connection.execute(_INDEXES).fetchall()


def names(services: Services) -> set[str]:
    return {row[0].rpartition(".")[2] for row in indexes(services)}


def entered(services: Services, index: str = HNSW) -> int:
    """Rows that were in the index when it was built."""
    with psycopg.connect(dsn_of(services)) as connection:
        row = connection.execute(_ENTERED, [index]).fetchone()
        assert row is not None
        return int(row[0])


def dsn_of(services: Services) -> str:
    url = services.settings.database.url
    assert url is not None
    return url.get_secret_value()


def import_parts(services: Services) -> ImportParts:
    return ImportParts(services.engine, services.originals, services.settings.limits)


async def found(services: Services, query: str) -> list[str]:
    return await Library(services, Path()).sources(query, fts=0)


@asynccontextmanager
async def empty(databases: Databases, home: Path) -> AsyncIterator[Services]:
    """Nobody works here, so nobody guards the indexes."""
    with databases.fresh() as dsn:
        async with idle_services(flow_settings(dsn, home), HashEmbedder(384)) as services:
            yield services


@pytest.fixture(scope="module")
async def exported(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    folder = tmp_path_factory.mktemp("exported")
    async with empty(databases, folder / "home") as services, working(services):
        library = Library(services, folder)
        for number in range(6):
            await library.put(f"{number}.txt", f"第{number}条：水泵的保修期为{number}年。" * 40)
        report = await export(ArchiveParts(dsn_of(services), services.originals), "default", folder / "kb.fuzi")
        yield report.path


@pytest.fixture
def cut_after(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Break an import off after so many documents."""

    def cut(count: int) -> None:
        whole, done = importing._Import.one, 0

        async def one(self: Any, version: PortableVersion) -> None:
            nonlocal done
            if done == count:
                raise KeyboardInterrupt
            await whole(self, version)
            done += 1

        monkeypatch.setattr(importing._Import, "one", one)

    return cut


async def test_an_empty_database_gets_its_index_at_the_end(
    databases: Databases, exported: Path, tmp_path: Path
) -> None:
    steps = list[tuple[str, set[str]]]()
    async with empty(databases, tmp_path) as there:
        before = indexes(there)
        report = await take_in(import_parts(there), exported, watch=lambda step, *_: steps.append((step, names(there))))
        assert indexes(there) == before
        assert entered(there) == report.child_count > 0
    meanwhile = [present for step, present in steps if step == "storing"]
    assert meanwhile
    assert all(STAND_IN in present and HNSW not in present for present in meanwhile)
    assert steps[-1][0] == "indexes"


async def test_a_database_with_documents_keeps_its_index(databases: Databases, exported: Path, tmp_path: Path) -> None:
    async with empty(databases, tmp_path) as there, working(there):
        await Library(there, tmp_path).put("mine.txt", "值班安排。")
        seen = list[set[str]]()
        await take_in(import_parts(there), exported, watch=lambda *_: seen.append(names(there)))
        assert all(HNSW in present and STAND_IN not in present for present in seen)


async def test_what_a_broken_off_import_left_is_searched_and_built_by_the_guard(
    databases: Databases, exported: Path, tmp_path: Path, cut_after: Any
) -> None:
    async with empty(databases, tmp_path) as there:
        before = indexes(there)
        cut_after(3)
        with pytest.raises(KeyboardInterrupt):
            await take_in(import_parts(there), exported)
        assert {HNSW, STAND_IN} & names(there) == {STAND_IN}
        assert len(await found(there, "水泵的保修期")) == 3

        findings = {finding.part: finding for finding in await check_database(there.settings)}
        assert findings[HNSW].state is State.WARN
        assert "fuzi doctor --repair" in (findings[HNSW].mend or "")
        assert STAND_IN not in findings

        async with guarding(there.engine, there.bm25, look_seconds=0.05):
            while STAND_IN in names(there):
                await asyncio.sleep(0.05)
        assert indexes(there) == before
        assert len(await found(there, "水泵的保修期")) == 3


async def test_doctor_builds_what_was_left_behind(
    databases: Databases, exported: Path, tmp_path: Path, cut_after: Any
) -> None:
    async with empty(databases, tmp_path) as there:
        before = indexes(there)
        cut_after(1)
        with pytest.raises(KeyboardInterrupt):
            await take_in(import_parts(there), exported)
        findings = [(finding.part, finding.message) for finding in await check_database(there.settings, mend=True)]
        assert ("repair", f"{HNSW} built") in findings
        assert indexes(there) == before


async def test_an_import_goes_on_without_the_index_where_it_stopped(
    databases: Databases, exported: Path, tmp_path: Path, cut_after: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with empty(databases, tmp_path) as there:
        cut_after(2)
        with pytest.raises(KeyboardInterrupt):
            await take_in(import_parts(there), exported)
        monkeypatch.undo()
        report = await take_in(import_parts(there), exported)
        assert report.outcomes == {"unchanged": 2, "created": 4}
        assert STAND_IN not in names(there)
        assert entered(there) > report.child_count


async def test_nobody_builds_while_the_import_runs_and_no_change_of_the_model_begins(
    databases: Databases, tmp_path: Path
) -> None:
    async with empty(databases, tmp_path) as there:
        async with alone(there.engine) as is_free:
            assert is_free
            assert await defer_index(there.engine)
            assert not await build_left_behind(there.engine)
            with pytest.raises(Conflict, match="fuzi import"):
                await drop_old(there.engine)
            assert STAND_IN in names(there)
        assert await build_left_behind(there.engine)
        assert not await build_left_behind(there.engine)


async def test_a_change_of_the_model_builds_the_index_first(databases: Databases, tmp_path: Path) -> None:
    async with empty(databases, tmp_path) as there:
        before = indexes(there)
        async with alone(there.engine):
            await defer_index(there.engine)
        await drop_old(there.engine)
        assert indexes(there) == before


async def test_the_options_of_the_index_are_kept_and_a_broken_build_is_begun_anew(
    databases: Databases, tmp_path: Path
) -> None:
    async with empty(databases, tmp_path) as there:
        with psycopg.connect(dsn_of(there), autocommit=True) as connection:
            connection.execute(f"alter index rag.{HNSW} set (m = 8, ef_construction = 40)")
            before = indexes(there)
            async with alone(there.engine):
                await defer_index(there.engine)
            connection.execute(
                f"create index {HNSW} on rag.child_chunk using hnsw (embedding vector_cosine_ops) with (m = 5)"
            )
            connection.execute(
                "update pg_index set indisvalid = false where indexrelid = %s::regclass", [f"rag.{HNSW}"]
            )
            async with alone(there.engine):
                assert await build_deferred(there.engine)
        assert indexes(there) == before


async def test_a_table_that_others_hold_keeps_its_index(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.db.spaces.deferred._PATIENCE_SECONDS", 0.2)
    async with empty(databases, tmp_path) as there:
        with psycopg.connect(dsn_of(there)) as connection:
            connection.execute("lock table rag.child_chunk in access share mode")
            assert not await defer_index(there.engine)
        assert {HNSW, STAND_IN} & names(there) == {HNSW}


async def test_a_backup_made_meanwhile_is_restored_with_its_index(
    databases: Databases, exported: Path, tmp_path: Path, cut_after: Any
) -> None:
    async with empty(databases, tmp_path / "here") as here:
        before = indexes(here)
        cut_after(4)
        with pytest.raises(KeyboardInterrupt):
            await take_in(import_parts(here), exported)
        parts, _ = parts_of(dsn_of(here), tmp_path / "here")
        await backup(parts, tmp_path / "backup.tar")
    with databases.fresh(migrated=False) as dsn:
        there, settings = parts_of(dsn, tmp_path / "there")
        await restore(there, tmp_path / "backup.tar", settings)
        with psycopg.connect(dsn) as connection:
            assert connection.execute(_INDEXES).fetchall() == before


async def test_a_build_that_lacks_memory_says_so(databases: Databases, tmp_path: Path) -> None:
    async with empty(databases, tmp_path) as there, alone(there.engine):
        assert await defer_index(there.engine)
        with search_connection(dsn_of(there)) as connection:
            connection.execute(f"alter database {connection.info.dbname} set maintenance_work_mem = '1MB'")
            children = [[Child(f"第{n}条", random_vector(n)) for n in range(1000)]]
            document(connection, collection(connection, "many"), "many.txt", children)
        await there.engine.dispose()  # connections with the former setting
        with capture_logs() as logs:
            assert await build_deferred(there.engine)
    [told] = [entry for entry in logs if entry["event"] == "postgresql_notice"]
    assert "maintenance_work_mem" in told["message"]
    assert told["hint"] == "Increase maintenance_work_mem to speed up builds."
