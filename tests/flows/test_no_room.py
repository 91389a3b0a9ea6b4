"""A worker without room for temporary files fails no upload for good."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from service.flows.work import run_job
from service.queue.jobs import JobStatus, get_job
from service.queue.queue import RetryLater
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import accept, flow_settings, idle_services


async def test_the_job_waits_for_another_try(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with idle_services(flow_settings(database, tmp_path / "home", attempts=2), HashEmbedder(384)) as services:
        accepted = await accept(services, tmp_path, "a.md", "值班安排。")
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
            with pytest.raises(RetryLater):
                await run_job(services.for_work, accepted.job_id)
        async with services.engine.connect() as connection:
            waiting = await get_job(connection, accepted.job_id)
        assert (waiting.status, waiting.error_code) == (JobStatus.RECEIVED, "unavailable")
        await run_job(services.for_work, accepted.job_id)
        async with services.engine.connect() as connection:
            assert (await get_job(connection, accepted.job_id)).status == JobStatus.READY
