"""Whatever fails between the object store and the database, no original is left that nothing refers to, and none that
is referred to is ever swept. For a folder and for a bucket."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from service.errors import Misconfigured, OriginalsUnavailable
from service.flows.receive import Accepted, receive
from service.flows.remove import remove
from service.flows.sweep import SweepParts, delete_noted_originals, note_orphans, remove_unfinished_uploads
from service.types import IngestRequest
from service.wiring import Services, open_services
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.s3.server import S3Proxy, S3Server, Status
from tests.flows.conftest import accept, flow_settings, idle_services


@pytest.fixture(params=["folder", "s3"])
async def services(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> AsyncIterator[Services]:
    settings = flow_settings(database, tmp_path / "home")
    if request.param == "s3":
        server, proxy, bucket = map(request.getfixturevalue, ("s3_server", "s3_proxy", "bucket"))
        settings = settings.model_copy(update={"originals": server.settings(f"s3://{bucket}", proxy.address)})
    async with idle_services(settings, HashEmbedder(384)) as opened:
        yield opened


async def stored(services: Services) -> set[str]:
    pages = services.originals.older_than(datetime.now(UTC) + timedelta(minutes=1))
    return {key async for page in pages for key in page}


async def referred(services: Services) -> set[str]:
    async with services.engine.connect() as connection:
        query = text("select coalesce(pending_key, object_key) from rag.document")
        return set((await connection.execute(query)).scalars())


async def sweep(services: Services) -> None:
    """All sweeps, as if every upload were long ago."""
    parts: SweepParts = replace(services.for_sweep, stale_after=-timedelta(minutes=1))
    await remove_unfinished_uploads(parts)
    await note_orphans(parts)
    await delete_noted_originals(parts)


@contextmanager
def commits_that_fail(services: Services, table: str) -> Iterator[None]:
    """The commit of a transaction that has written a row of this table fails."""

    def fail(connection: Connection) -> None:
        if connection.scalar(text(f"select count(*) from {table} where xmin = pg_current_xact_id()::xid")):
            raise ConnectionResetError

    event.listen(services.engine.sync_engine, "commit", fail)
    try:
        yield
    finally:
        event.remove(services.engine.sync_engine, "commit", fail)


async def test_a_failure_between_storing_and_committing(services: Services, tmp_path: Path) -> None:
    kept = await accept(services, tmp_path, "kept.md", "值班安排。")
    with commits_that_fail(services, "rag.job"), pytest.raises(ConnectionResetError):
        await accept(services, tmp_path, "lost.md", "值班安排。第二版。")
    assert len(await stored(services)) == 2, "the commit may have been done: only the sweep can tell"
    await sweep(services)
    assert await stored(services) == await referred(services)
    assert len(await stored(services)) == 1
    assert kept.source == "kept.md"


async def test_a_failure_before_the_commit(services: Services, tmp_path: Path) -> None:
    await accept(services, tmp_path, "kept.md", "值班安排。")

    def fail(connection: Connection, cursor: object, statement: str, *_: object) -> None:
        if "insert into rag.job " in statement.lower():
            raise ConnectionResetError

    event.listen(services.engine.sync_engine, "before_cursor_execute", fail)
    with pytest.raises(ConnectionResetError):
        await accept(services, tmp_path, "lost.md", "值班安排。第二版。")
    event.remove(services.engine.sync_engine, "before_cursor_execute", fail)
    assert await stored(services) == await referred(services), "removed at once"


async def test_a_failure_between_committing_and_deleting(
    services: Services, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The outbox remembers what the store refuses to delete; a second sweep finds it accepted again."""
    accepted = await accept(services, tmp_path, "a.md", "值班安排。")
    await accept(services, tmp_path, "b.md", "值班安排。")
    (original,) = await stored(services) - (await referred(services) - await keys_of(services, accepted))
    with refusing(services, original, request):
        await remove(services.engine, services.originals, accepted.document_id)
        await sweep(services)
        assert len(await referred(services)) == 1
    assert original in await stored(services)
    await sweep(services)
    assert await stored(services) == await referred(services)


async def keys_of(services: Services, accepted: Accepted) -> set[str]:
    async with services.engine.connect() as connection:
        query = text("select pending_key from rag.document where id = :id")
        return set((await connection.execute(query, {"id": accepted.document_id})).scalars())


@contextmanager
def refusing(services: Services, key: str, request: pytest.FixtureRequest) -> Iterator[None]:
    """A store that does not delete: the folder has a folder in the place of the file, the bucket is busy."""
    if services.settings.originals.url is not None:
        proxy: S3Proxy = request.getfixturevalue("s3_proxy")
        proxy.script(
            *[Status(503, "SlowDown")] * 20, matching=lambda method, path: "delete" in path or method == "DELETE"
        )
        yield
        proxy.script()
        return
    path = services.settings.home / "originals" / key
    content = path.read_bytes()
    path.unlink()
    path.mkdir()
    yield
    path.rmdir()
    path.write_bytes(content)


async def test_an_upload_that_the_store_cannot_take(
    services: Services, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await accept(services, tmp_path, "kept.md", "值班安排。")
    large = "值班安排。" * 800_000  # 12 MB: several parts
    if services.settings.originals.url is not None:
        proxy: S3Proxy = request.getfixturevalue("s3_proxy")
        proxy.script(*[Status(500)] * 9, matching=lambda method, path: method == "PUT" and "partNumber=2" in path)
        with pytest.raises(OriginalsUnavailable):
            await accept(services, tmp_path, "lost.md", large)
        proxy.script()
    else:
        path = tmp_path / "large"
        path.write_text(large)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, before[1]))  # as a full disk
        try:
            with pytest.raises(OriginalsUnavailable):
                await receive(services.for_receive, IngestRequest(path, "lost.md", "lost.md"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    async with services.engine.connect() as connection:
        assert (await connection.execute(text("select source from rag.document"))).scalars().all() == ["kept.md"]
    await sweep(services)
    assert await stored(services) == await referred(services)
    folder = services.settings.home / "originals"
    assert len([path for path in folder.rglob("*") if path.is_file()]) in {0, 1}, "nor a half-written file"


async def test_a_start_without_the_bucket_says_what_to_do(
    database: str, tmp_path: Path, s3_server: S3Server, s3_proxy: S3Proxy
) -> None:
    originals = s3_server.settings("s3://no-such-bucket", s3_proxy.address)
    settings = flow_settings(database, tmp_path / "home").model_copy(update={"originals": originals})
    with pytest.raises(Misconfigured, match=r"NoSuchBucket.*FUZI_ORIGINALS__URL"):
        async with open_services(settings):
            pass
    away = originals.model_copy(update={"endpoint": "http://127.0.0.1:1"})
    async with open_services(settings.model_copy(update={"originals": away})):
        pass  # searches need no originals
