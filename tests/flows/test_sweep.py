"""Sweeps: what a dead worker held goes on, what nothing refers to goes away, what ended long ago is forgotten."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from service.errors import JobAbandoned, JobNotFound
from service.flows.jobs import result_of, wait_for
from service.flows.receive import Accepted
from service.flows.sweep import delete_noted_originals, forget_finished_jobs, free_stalled_jobs, note_orphans
from service.queue.jobs import JobStatus
from service.wiring import Services
from service.worker import working
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, accept, flow_settings, idle_services, services_with


async def run(services: Services, statement: str, **values: object) -> None:
    async with services.engine.begin() as connection:
        await connection.execute(text(statement), values)


async def die_with(services: Services, accepted: Accepted, attempts: int) -> None:
    """Leave the job as a worker that was killed leaves it."""
    await run(
        services,
        "update queue.procrastinate_jobs set status = 'doing' where id = "
        "(select queue_job_id from rag.job where id = :id)",
        id=accepted.job_id,
    )
    await run(
        services,
        "update rag.job set status = 'embedding', attempts = :attempts, started_at = now() - interval '1 minute',"
        " heartbeat_at = now() - interval '1 minute' where id = :id",
        id=accepted.job_id,
        attempts=attempts,
    )


async def test_a_job_whose_worker_died_is_done_by_the_next_one(database: str, tmp_path: Path) -> None:
    """BR-038"""
    settings = flow_settings(database, tmp_path / "home", attempts=2)
    async with idle_services(settings, HashEmbedder(384)) as services:
        accepted = await accept(services, tmp_path, "a.md", "值班安排。")
        assert await free_stalled_jobs(services.for_sweep) == 0, "a job that waits in line is not stalled"
        await die_with(services, accepted, attempts=1)
        async with working(services):
            result = await result_of(services.engine, accepted)
            assert result.child_count == 1
            assert await Library(services, tmp_path).sources("值班", vector=0) == ["a.md"]


async def test_an_upload_that_kills_its_workers_is_given_up(database: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path / "home", attempts=2)
    async with idle_services(settings, HashEmbedder(384)) as services:
        accepted = await accept(services, tmp_path, "a.md", "值班安排。")
        await die_with(services, accepted, attempts=2)
        async with working(services):
            with pytest.raises(JobAbandoned):
                await result_of(services.engine, accepted)


async def test_a_job_that_lost_its_place_in_line_gets_a_new_one(database: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path / "home")
    async with idle_services(settings, HashEmbedder(384)) as services:
        accepted = await accept(services, tmp_path, "a.md", "值班安排。")
        await run(services, "delete from queue.procrastinate_jobs")
        await run(services, "update rag.job set created_at = now() - interval '1 minute'")
        async with working(services):
            assert (await wait_for(services.engine, accepted.job_id)).status is JobStatus.READY


async def test_a_worker_that_stops_hands_its_job_back(database: str, tmp_path: Path) -> None:
    class Slow(HashEmbedder):
        began = asyncio.Event()

        async def embed_passages(self, *arguments: object, **named: object) -> object:  # type: ignore[override]
            self.began.set()
            await asyncio.sleep(3600)

    settings = flow_settings(database, tmp_path / "home", attempts=1)
    async with services_with(settings, Slow(384)) as services:
        accepted = await accept(services, tmp_path, "a.md", "值班安排。")
        await Slow.began.wait()
    async with services_with(settings, HashEmbedder(384)) as services:
        result = await result_of(services.engine, accepted)
        assert result.child_count == 1, "the attempt that was cut short does not count"


async def test_a_commit_whose_answer_was_lost_keeps_its_original(database: str, tmp_path: Path) -> None:
    def commit_and_lose_the_answer(connection: Connection) -> None:
        if connection.scalar(text("select count(*) from rag.job")):
            connection.connection.commit()
            raise ConnectionResetError

    async with idle_services(flow_settings(database, tmp_path / "home"), HashEmbedder(384)) as services:
        event.listen(services.engine.sync_engine, "commit", commit_and_lose_the_answer)
        with pytest.raises(ConnectionResetError):
            await accept(services, tmp_path, "a.md", "值班安排。")
        event.remove(services.engine.sync_engine, "commit", commit_and_lose_the_answer)
        async with services.engine.connect() as connection:
            job_id = (await connection.execute(text("select id from rag.job"))).scalar_one()
        async with working(services):
            assert (await wait_for(services.engine, job_id)).status is JobStatus.READY


async def test_originals_that_nothing_refers_to_are_deleted(library: Library) -> None:
    await library.put("a.md", "值班安排。")
    folder = library.services.settings.home / "originals" / "rag"
    kept = list(folder.rglob("*.md"))
    old, young = folder / "2020" / "old.txt", folder / "2020" / "young.txt"
    old.parent.mkdir()
    for path in (old, young):
        path.write_text("left by a crash")
    os.utime(old, (0, 0))
    os.utime(kept[0], (0, 0))
    assert await note_orphans(library.services.for_sweep) == 1
    await delete_noted_originals(library.services.for_sweep)
    for _ in range(50):
        if not old.exists():
            break
        await asyncio.sleep(0.1)
    assert not old.exists()
    assert young.exists()
    assert kept[0].exists()


async def test_jobs_that_ended_well_long_ago_are_forgotten(library: Library) -> None:
    result = await library.put("a.md", "值班安排。")
    assert result.job_id is not None
    assert await forget_finished_jobs(library.services.for_sweep) == 0
    await run(library.services, "update rag.job set finished_at = now() - interval '31 days'")
    assert await forget_finished_jobs(library.services.for_sweep) == 1
    with pytest.raises(JobNotFound):
        await wait_for(library.services.engine, result.job_id)
