"""Killed backups and restores, roles without rights, old schemas and old programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url, text

from service.db.dump.programs import Programs
from service.db.dump.session import unhurried
from service.db.keep_originals import keep_originals, originals_may_go
from service.db.migrate import downgrade, upgrade
from service.errors import Conflict, DatabaseNotEmpty, Misconfigured, NotMigrated, OriginalsUnavailable
from service.flows.archives.backup import backup
from service.flows.archives.restore import restore
from service.flows.remove import remove
from service.flows.sweep import delete_noted_originals
from tests.conftest import Databases
from tests.flows.archives.moving import databases_like, dsn_of, killed, parts_of, rows, sentinels, stored
from tests.flows.conftest import Library


@pytest.fixture
def plain(empty_database: str) -> Iterator[str]:
    """An empty database with the extensions, as a role that owns it and may do nothing else."""
    name = f"plain_{uuid4().hex[:12]}"
    role = sql.Identifier(name)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("create extension vector; create extension pg_search")
        connection.execute(sql.SQL("create role {} login password 'plain'").format(role))
        owned = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("alter database {} owner to {}").format(owned, role))
    yield make_url(empty_database).set(username=name, password="plain").render_as_string(hide_password=False)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(sql.SQL("reassign owned by {} to current_user").format(role))
        connection.execute(sql.SQL("drop owned by {}").format(role))
        connection.execute(sql.SQL("drop role {}").format(role))


async def test_a_killed_backup_leaves_the_old_file_and_frees_the_originals(library: Library, tmp_path: Path) -> None:
    result = await library.put("a.md", "值班安排。")
    services, path = library.services, tmp_path / "all.fuzi"
    parts, _ = parts_of(dsn_of(library), services.settings.home)
    await backup(parts, path)
    before = path.read_bytes()
    killed("backup", dsn_of(library), services.settings.home, path, "originals")
    assert path.read_bytes() == before
    await remove(services.engine, services.originals, result.document_id)
    await delete_noted_originals(services.for_sweep)
    assert stored(services.settings.home) == {}
    report = await backup(parts, path, overwrite=True)
    assert report.original_count == 0
    assert sorted(entry.name for entry in tmp_path.glob("all.fuzi*")) == ["all.fuzi"]


async def test_originals_stay_while_a_backup_holds_them(library: Library, tmp_path: Path) -> None:
    result = await library.put("a.md", "值班安排。")
    services = library.services
    async with unhurried(dsn_of(library)) as connection:
        await keep_originals(connection)
        await remove(services.engine, services.originals, result.document_id)
        assert len(stored(services.settings.home)) == 1
        session = await connection.scalar(text("select pg_backend_pid()"))
        with pytest.raises(Conflict, match=rf"session {session} of .*`fuzi backup`.*pg_terminate_backend\({session}\)"):
            await backup(parts_of(dsn_of(library), services.settings.home)[0], tmp_path / "all.fuzi")
    assert list(tmp_path.glob("all.fuzi*")) == []
    async with services.engine.begin() as connection:
        assert await originals_may_go(connection)
    assert await delete_noted_originals(services.for_sweep) in {0, 1}, "the worker's own sweep may be faster"
    assert stored(services.settings.home) == {}


async def test_a_backup_tells_of_originals_that_are_not_whole(library: Library, tmp_path: Path) -> None:
    await library.put("gone.md", "不见了。")
    await library.put("rotten.md", "坏了。")
    folder = library.services.settings.home / "originals"
    gone, rotten = (key for key in sorted(stored(library.services.settings.home)))
    (folder / gone).unlink()
    (folder / rotten).write_bytes(b"something else")
    parts, _ = parts_of(dsn_of(library), library.services.settings.home)
    report = await backup(parts, tmp_path / "all.fuzi")
    assert (report.missing, report.damaged) == ((gone,), (rotten,))


async def test_a_killed_restore_leaves_what_was_there(library: Library, databases: Databases, tmp_path: Path) -> None:
    await library.put("a.md", "值班安排。")
    parts, _ = parts_of(dsn_of(library), library.services.settings.home)
    path = tmp_path / "all.fuzi"
    await backup(parts, path)
    with databases.fresh(migrated=False) as used:
        home = tmp_path / "there"
        there, settings = parts_of(used, home)
        await restore(there, path, settings)
        with psycopg.connect(used, autocommit=True) as connection:
            connection.execute("update rag.document set title = 'changed here'")
        before = rows(used)
        killed("replace", used, home, path, "check")
        assert rows(used) == before
        assert len(databases_like(used)) <= 2
        await restore(there, path, settings, replace=True)
        assert rows(used) != before
        assert len(databases_like(used)) == 1


async def test_a_role_without_rights_restores_into_its_empty_database(
    library: Library, plain: str, tmp_path: Path
) -> None:
    await library.put("a.md", "值班安排。")
    parts, _ = parts_of(dsn_of(library), library.services.settings.home)
    path = tmp_path / "all.fuzi"
    await backup(parts, path)
    there, settings = parts_of(plain, tmp_path / "there")
    killed("restore", plain, settings.home, path, "database")
    # the program that was fed may go on for a moment, and the next restore ends it
    await restore(there, path, settings)
    assert rows(plain) == rows(dsn_of(library))
    assert sentinels(plain) == {"child_chunk_bm25", "parent_chunk_bm25"}
    with pytest.raises(DatabaseNotEmpty):
        await restore(there, path, settings)
    with pytest.raises(Misconfigured, match="createdb"):
        await restore(there, path, settings, replace=True)


async def test_a_backup_of_an_older_schema_is_migrated(library: Library, databases: Databases, tmp_path: Path) -> None:
    await library.put("a.md", "值班安排。")
    services, dsn = library.services, dsn_of(library)
    parts, settings = parts_of(dsn, services.settings.home)
    after = rows(dsn)
    with databases.fresh(migrated=False) as old:
        await backup(parts, tmp_path / "new.fuzi")
        old_parts, old_settings = parts_of(old, tmp_path / "old")
        await restore(old_parts, tmp_path / "new.fuzi", old_settings)
        downgrade(old, old_settings, "0004")
        await backup(old_parts, tmp_path / "old.fuzi")
    with databases.fresh() as fresh:  # tables without rows count as empty
        there, settings = parts_of(fresh, tmp_path / "there")
        await restore(there, tmp_path / "old.fuzi", settings)
        found = rows(fresh)
        for table in ("document", "parent_chunk", "child_chunk", "alembic_version"):
            assert found[f"rag.{table}"] == after[f"rag.{table}"]
        upgrade(fresh, settings)


async def test_a_full_store_of_originals_leaves_the_database_empty(
    library: Library, empty_database: str, tmp_path: Path
) -> None:
    await library.put("a.md", "值班安排。")
    parts, _ = parts_of(dsn_of(library), library.services.settings.home)
    await backup(parts, tmp_path / "all.fuzi")
    there, settings = parts_of(empty_database, tmp_path / "there")
    (settings.home / "originals" / "rag").write_text("a file where a folder has to be")
    with pytest.raises(OriginalsUnavailable):
        await restore(there, tmp_path / "all.fuzi", settings)
    assert databases_like(empty_database) == [empty_database.rsplit("/", 1)[1]]
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("select to_regnamespace('rag')").fetchone() == (None,)


async def test_an_empty_database_has_nothing_to_back_up(empty_database: str, tmp_path: Path) -> None:
    with pytest.raises(NotMigrated):
        await backup(parts_of(empty_database, tmp_path)[0], tmp_path / "all.fuzi")
    assert not list(tmp_path.glob("all.fuzi*"))


async def test_programs_must_be_as_new_as_the_server(tmp_path: Path) -> None:
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 12.1'\n")
    old.chmod(0o755)
    with pytest.raises(Misconfigured, match=r"is version 12\)?.*install postgresql-client-17"):
        await Programs(17, tmp_path).find("pg_dump")
    assert await Programs(12, tmp_path).find("pg_dump") == old
    with pytest.raises(Misconfigured, match="does not run"):
        await Programs(17, tmp_path).find("pg_restore")
    assert os.access(await Programs(17).find("pg_restore"), os.X_OK)
