"""A worker that falls silent may still be at work when its job is given to another one: the second must do no harm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import text

from service.flows.jobs import wait_for
from service.flows.sweep import delete_noted_originals, free_stalled_jobs
from service.flows.work import run_job
from service.queue.jobs import JobStatus
from service.types import VectorBatch
from service.worker import working
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import accept, flow_settings, idle_services
from tests.flows.test_sweep import run


class SlowAtFirst(HashEmbedder):
    """Its first answer comes when it is told so."""

    def __init__(self) -> None:
        super().__init__(384)
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def embed_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] | None = None
    ) -> VectorBatch:
        if not self.asked.is_set():
            self.asked.set()
            await self.may_answer.wait()
        return await super().embed_passages(texts, on_progress)


async def test_two_workers_with_one_job_keep_its_original_and_its_end(database: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    embedder = SlowAtFirst()
    async with idle_services(flow_settings(database, home, attempts=2), embedder) as services:
        accepted = await accept(services, tmp_path, "a.md", "值班安排在星期一公布。")
        slow = asyncio.create_task(run_job(services.for_work, accepted.job_id))
        await embedder.asked.wait()
        await run_job(services.for_work, accepted.job_id)
        embedder.may_answer.set()
        await slow
        job = await wait_for(services.engine, accepted.job_id)
        assert (job.status, job.outcome, job.error_code) == (JobStatus.READY, "created", None)
        assert await delete_noted_originals(services.for_sweep) == 0
        assert [path.suffix for path in (home / "originals").rglob("*") if path.is_file()] == [".md"]


async def test_a_worker_killed_after_the_end_of_a_job_holds_nothing_back(database: str, tmp_path: Path) -> None:
    async with idle_services(flow_settings(database, tmp_path / "home"), HashEmbedder(384)) as services:
        first = await accept(services, tmp_path, "a.md", "第一版：值班安排。")
        # as a worker leaves it that dies between the commit of the new version and its word to the queue
        await run(services, "update queue.procrastinate_jobs set status = 'doing'")
        await run_job(services.for_work, first.job_id)
        await free_stalled_jobs(services.for_sweep)
        async with services.engine.connect() as connection:
            left = await connection.scalar(text("select count(*) from queue.procrastinate_jobs"))
        assert left == 1, "a worker that has just ended a job gets the time of a lease to say so"

        await run(services, "update rag.job set finished_at = now() - interval '1 minute'")
        second = await accept(services, tmp_path, "a.md", "第二版：休假安排。")
        await free_stalled_jobs(services.for_sweep)
        async with working(services):
            assert (await wait_for(services.engine, second.job_id)).status == JobStatus.READY
