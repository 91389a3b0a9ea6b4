"""Backup and restore: everything comes back, nothing half-written stays, and what is there is safe until the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from service.errors import DatabaseNotEmpty, FuziError, InvalidArchive, ModelMismatch
from service.flows.archives.backup import backup
from service.flows.archives.restore import restore
from service.flows.jobs import wait_for
from service.flows.receive import Accepted, receive
from service.flows.remove import remove
from service.flows.sweep import delete_noted_originals
from service.queue.jobs import JobStatus
from service.types import IngestRequest
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.s3.server import S3Server
from tests.flows.archives.moving import databases_like, dsn_of, objects, parts_of, rows, sentinels, stored
from tests.flows.conftest import Library, flow_settings, idle_services, services_with

TEXTS = {
    "泵.md": "# 泵\n\n保修期为两年。\n\n## 维护\n\n每月检查一次密封圈。",
    "duty.txt": "值班安排：周一张伟，周二李娜。",
}


@pytest.fixture
def elsewhere(databases: Databases) -> Iterator[str]:
    """An empty database."""
    with databases.fresh(migrated=False) as dsn:
        yield dsn


async def scalar(engine: AsyncEngine, statement: str) -> object:
    async with engine.connect() as connection:
        return await connection.scalar(text(statement))


async def test_analysts_come_back(library: Library, elsewhere: str, tmp_path: Path) -> None:
    """Who sees what; not what somebody put beside our views, which may stand on what is not in the backup."""
    await library.put("泵.md", TEXTS["泵.md"])
    name = f"reader_{uuid4().hex[:12]}"
    with psycopg.connect(dsn_of(library), autocommit=True) as connection:
        connection.execute(f"create role {name}")  # type: ignore[arg-type]
        connection.execute("create view public.stranger as select 1 as one")
        connection.execute("create view analytics.of_somebody_else as select one from public.stranger")
        connection.execute("select rag.grant_collection(%s, name) from rag.collection", [name])
        parts, _ = parts_of(dsn_of(library), library.services.settings.home)
        await backup(parts, tmp_path / "all.fuzi")
        there, settings = parts_of(elsewhere, tmp_path / "there")
        await restore(there, tmp_path / "all.fuzi", settings)
        assert objects(elsewhere) == objects(dsn_of(library))
        with psycopg.connect(elsewhere) as restored:
            assert restored.execute("select to_regclass('analytics.of_somebody_else')").fetchone() == (None,)
            restored.execute(f"set role {name}")  # type: ignore[arg-type]
            assert restored.execute("select source from analytics.documents").fetchall() == [("泵.md",)]
            assert restored.execute("select rank from rag.search('保修期')").fetchall() == [(1,)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                restored.execute(
                    "select paradedb.aggregate('rag.child_chunk_bm25', paradedb.all(),"
                    """ '{"n": {"value_count": {"field": "id"}}}')"""
                )
        connection.execute(f"drop role {name}")  # type: ignore[arg-type]


async def test_everything_comes_back(library: Library, elsewhere: str, tmp_path: Path) -> None:
    for source, content in TEXTS.items():
        await library.put(source, content, metadata={"部门": "法务"})
    with pytest.raises(FuziError):
        await library.put("broken.pdf", b"%PDF-1.7 cut off")
    parts, _ = parts_of(dsn_of(library), library.services.settings.home)
    report = await backup(parts, tmp_path / "all.fuzi")
    assert (report.original_count, report.missing, report.damaged) == (3, (), ())
    there, settings = parts_of(elsewhere, tmp_path / "there")
    await restore(there, tmp_path / "all.fuzi", settings)
    assert rows(elsewhere) == rows(dsn_of(library))
    assert objects(elsewhere) == objects(dsn_of(library))
    assert stored(settings.home) == stored(library.services.settings.home)
    assert sentinels(elsewhere) == {"child_chunk_bm25", "parent_chunk_bm25"}
    async with idle_services(settings, HashEmbedder(384)) as services:
        restored = Library(services, tmp_path)
        for legs in ({"vector": 0}, {"fts": 0}):
            assert (await restored.sources("值班安排", **legs))[0] == "duty.txt"
            assert (await restored.sources("密封圈", **legs))[0] == "泵.md"
        assert services.bm25.lost == ()


async def test_originals_move_into_a_bucket_and_back_into_a_folder(
    library: Library, elsewhere: str, empty_database: str, s3_server: S3Server, bucket: str, tmp_path: Path
) -> None:
    large = "水泵。" + " " * 9_000_000  # two parts of an upload to S3, and little text
    for source, content in {**TEXTS, "large.txt": large}.items():
        await library.put(source, content)
    home = library.services.settings.home
    before = stored(home)
    await backup(parts_of(dsn_of(library), home)[0], tmp_path / "folder.fuzi")

    in_bucket = s3_server.settings(f"s3://{bucket}", s3_server.address)
    there, settings = parts_of(elsewhere, tmp_path / "there", in_bucket)
    report = await restore(there, tmp_path / "folder.fuzi", settings)
    assert report.original_count == len(before) == 3
    assert s3_server.keys(bucket) == sorted(before)
    assert stored(settings.home) == {}, "nothing was put into a folder"
    async with idle_services(settings, HashEmbedder(384)) as services:
        assert (await Library(services, tmp_path).sources("值班安排"))[0] == "duty.txt"
    saved = await backup(there, tmp_path / "bucket.fuzi")
    assert (saved.original_count, saved.missing, saved.damaged) == (3, (), ())

    back, settings = parts_of(empty_database, tmp_path / "back")
    await restore(back, tmp_path / "bucket.fuzi", settings)
    assert stored(settings.home) == before
    assert rows(empty_database) == rows(dsn_of(library))


async def test_a_used_database_is_only_replaced_when_told_so(library: Library, database: str, tmp_path: Path) -> None:
    await library.put("new.md", "新的内容。")
    parts, _ = parts_of(dsn_of(library), library.services.settings.home)
    path = tmp_path / "all.fuzi"
    await backup(parts, path)
    before = rows(dsn_of(library))
    await library.put("later.md", "后来的内容。")
    later = rows(dsn_of(library))
    _, settings = parts_of(dsn_of(library), library.services.settings.home)
    with pytest.raises(DatabaseNotEmpty):
        await restore(parts, path, settings)
    other = settings.model_copy(update={"embed": settings.embed.model_copy(update={"model": "other"})})
    with pytest.raises(ModelMismatch, match="other"):
        await restore(parts, path, other, replace=True)
    path.with_name("cut").write_bytes(path.read_bytes()[:-600])
    with pytest.raises(InvalidArchive):
        await restore(parts, path.with_name("cut"), settings, replace=True)
    assert rows(dsn_of(library)) == later
    # the service goes on meanwhile, and has the old documents afterwards
    report = await restore(parts, path, settings, replace=True)
    assert report.replaced
    assert rows(database) == before
    assert databases_like(database) == [database.rsplit("/", 1)[1]]


async def test_documents_come_and_go_during_a_backup(library: Library, elsewhere: str, tmp_path: Path) -> None:
    services = library.services
    fixed = [(await library.put(f"fixed-{number}.md", f"固定内容{number}。")).document_id for number in range(3)]
    ended = asyncio.Event()

    async def change(number: int) -> None:
        turn = 0
        while not ended.is_set():
            turn += 1
            result = await library.put(f"doc-{number}.md", f"第{turn}版，编号{number}。" * 50)
            await delete_noted_originals(services.for_sweep)
            if turn % 3 == 0:
                await remove(services.engine, services.originals, result.document_id)

    changing = [asyncio.create_task(change(number)) for number in range(3)]
    parts, _ = parts_of(dsn_of(library), services.settings.home)
    await asyncio.sleep(0.5)
    reports = [await backup(parts, tmp_path / f"{number}.fuzi") for number in range(3)]
    ended.set()
    await asyncio.gather(*changing)
    assert [(report.missing, report.damaged) for report in reports] == [((), ())] * 3
    there, settings = parts_of(elsewhere, tmp_path / "there")
    await restore(there, tmp_path / "2.fuzi", settings)
    # an upload that waited when the backup was made goes on where it is restored
    async with services_with(settings, HashEmbedder(384)) as restored:
        async with asyncio.timeout(30):
            while await scalar(restored.engine, "select count(*) from rag.job where finished_at is null"):
                await asyncio.sleep(0.2)
        assert len(fixed) == 3
        for number in range(3):
            found = await Library(restored, tmp_path).sources(f"固定内容{number}", vector=0)
            assert f"fixed-{number}.md" in found
    await delete_noted_originals(services.for_sweep)
    assert await scalar(services.engine, "select count(*) from rag.original_removal") == 0, (
        "after the backup originals are deleted again"
    )


async def test_a_waiting_upload_goes_on_after_a_restore(database: str, elsewhere: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path / "home")
    async with idle_services(settings, HashEmbedder(384)) as services:
        path = tmp_path / "upload"
        path.write_text("值班安排。")
        accepted = await receive(services.for_receive, IngestRequest(path, "duty.md", "duty.md"))
        assert isinstance(accepted, Accepted)
        async with services.engine.begin() as connection:
            await connection.execute(text("update queue.procrastinate_jobs set status = 'doing'"))
        await backup(parts_of(database, settings.home)[0], tmp_path / "all.fuzi")
    there, settings = parts_of(elsewhere, tmp_path / "there")
    await restore(there, tmp_path / "all.fuzi", settings)
    async with services_with(settings, HashEmbedder(384)) as services:
        assert (await wait_for(services.engine, accepted.job_id)).status is JobStatus.READY
        assert await Library(services, tmp_path).sources("值班", vector=0) == ["duty.md"]
