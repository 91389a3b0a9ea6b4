"""Jobs over HTTP: accepted, followed, failed, retried, cancelled."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest

from service.errors import EmbedderUnavailable, JobCancelled
from service.flows.jobs import result_of
from service.flows.receive import Accepted
from service.types import VectorBatch
from tests.api.conftest import Api, opener, problem, running
from tests.fakes.hash_embedder import HashEmbedder


class Gate(HashEmbedder):
    """Embeds passages only while it is open; counts how many waited."""

    def __init__(self) -> None:
        super().__init__(384)
        self.opened = asyncio.Event()
        self.broken = False

    async def embed_passages(self, *arguments: Any, **named: Any) -> VectorBatch:
        if self.broken:
            raise EmbedderUnavailable("the embedding provider does not answer")
        await self.opened.wait()
        return await super().embed_passages(*arguments, **named)


async def accepted(api: Api, name: str, content: str) -> dict[str, Any]:
    answer = await api.http.post("/v1/documents", files={"file": (name, content)})
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


async def job_when(api: Api, job_id: str, *statuses: str) -> dict[str, Any]:
    for _ in range(200):
        job = (await api.http.get(f"/v1/jobs/{job_id}")).json()
        if job["status"] in statuses:
            return dict(job)
        await asyncio.sleep(0.05)
    raise AssertionError(f"the job stays {job['status']}")


async def test_an_upload_is_followed_to_its_end(settings: Any, extractor: Any) -> None:
    gate = Gate()
    async with running(settings, opener(extractor, gate)) as api:
        upload = await accepted(api, "a.md", "值班安排。")
        await job_when(api, upload["job_id"], "embedding")
        again = await accepted(api, "a.md", "值班安排。")
        assert again["job_id"] == upload["job_id"], "the same upload is the same job"
        gate.opened.set()
        events = (await api.http.get(f"/v1/jobs/{upload['job_id']}/events")).text.strip().split("\n\n")
        last = dict(line.split(": ", 1) for line in events[-1].splitlines())
        assert last["event"] == "complete"
        job = json.loads(last["data"])
        assert (job["status"], job["outcome"]) == ("ready", "created")
        assert (job["child_count"], job["done_count"], job["embedded_count"]) == (1, 1, 1)
        assert await api.found("值班", vector_weight=0) == ["值班安排。"]
        listed = (await api.http.get("/v1/jobs", params={"document_id": upload["document_id"]})).json()
        assert (listed["total"], listed["jobs"][0]["job_id"]) == (1, upload["job_id"])


async def test_a_dead_letter_is_retried_and_embeds_only_what_is_new(settings: Any, extractor: Any) -> None:
    gate = Gate()
    gate.broken = True
    gate.opened.set()
    async with running(settings, opener(extractor, gate)) as api:
        upload = await accepted(api, "a.md", "值班安排。")
        job = await job_when(api, upload["job_id"], "failed")
        assert (job["error_code"], job["failed_stage"], job["attempts"]) == ("embedder_unavailable", "embed", 2)
        document = (await api.http.get(f"/v1/documents/{upload['document_id']}")).json()
        assert (document["status"], document["error_code"]) == ("failed", "embedder_unavailable")
        gate.broken = False
        assert (await api.http.post(f"/v1/jobs/{upload['job_id']}/retry")).status_code == 200
        await job_when(api, upload["job_id"], "ready")
        assert await api.found("值班", vector_weight=0) == ["值班安排。"]
        refused = await api.http.post(f"/v1/jobs/{upload['job_id']}/retry")
        assert (refused.status_code, problem(refused)["code"]) == (409, "wrong_job_state")


async def test_an_old_dead_letter_never_takes_the_place_of_a_newer_upload(settings: Any, extractor: Any) -> None:
    gate = Gate()
    gate.opened.set()
    once = settings.model_copy(update={"jobs": settings.jobs.model_copy(update={"attempts": 1})})
    async with running(once, opener(extractor, gate)) as api:
        await api.put("a.md", "第一版。")
        failed = []
        gate.broken = True
        for content in ("第二版。", "第三版。"):
            upload = await accepted(api, "a.md", content)
            await job_when(api, upload["job_id"], "failed")
            failed.append(upload["job_id"])
        gate.broken = False
        old, new = failed
        refused = await api.http.post(f"/v1/jobs/{old}/retry")
        assert (refused.status_code, problem(refused)["code"]) == (409, "wrong_job_state")
        assert problem(refused)["details"]["newer_job_id"] == new
        document = (await api.http.get(f"/v1/documents/{upload['document_id']}")).json()
        assert (document["status"], document["error_code"]) == ("ready", "embedder_unavailable"), "nothing has changed"
        assert await api.found("第一版", vector_weight=0) == ["第一版。"]

        gate.opened.clear()  # the newer one on its way, and cancelled: then the older one is the last again
        assert (await api.http.post(f"/v1/jobs/{new}/retry")).status_code == 200
        assert problem(await api.http.post(f"/v1/jobs/{old}/retry"))["code"] == "wrong_job_state"
        assert (await api.http.post(f"/v1/jobs/{new}/cancel")).status_code == 200
        await job_when(api, new, "cancelled")
        gate.opened.set()
        assert (await api.http.post(f"/v1/jobs/{old}/retry")).status_code == 200
        await job_when(api, old, "ready")
        assert await api.found("第二版", vector_weight=0) == ["第二版。"]


async def test_a_cancelled_upload_leaves_nothing(settings: Any, extractor: Any) -> None:
    gate = Gate()
    async with running(settings, opener(extractor, gate)) as api:
        upload = await accepted(api, "a.md", "值班安排。")
        await job_when(api, upload["job_id"], "embedding")
        assert (await api.http.post(f"/v1/jobs/{upload['job_id']}/cancel")).status_code == 200
        job = await job_when(api, upload["job_id"], "cancelled")
        assert job["error_code"] == "job_cancelled"
        for _ in range(100):
            if not api.originals() and await api.total() == 0:
                break
            await asyncio.sleep(0.05)
        assert (api.originals(), await api.total()) == ([], 0)


async def test_a_document_deleted_under_way_is_gone_for_good(settings: Any, extractor: Any) -> None:
    """BR-033"""
    gate = Gate()
    async with running(settings, opener(extractor, gate)) as api:
        upload = await accepted(api, "a.md", "值班安排。")
        await job_when(api, upload["job_id"], "embedding")
        assert (await api.http.delete(f"/v1/documents/{upload['document_id']}")).status_code == 204
        assert (await job_when(api, upload["job_id"], "cancelled"))["error_message"] == "its document was deleted"
        gate.opened.set()
        other = await api.http.post("/v1/documents?wait=true", files={"file": ("b.md", "别的内容。")})
        assert other.status_code == 201
        assert (await api.http.get(f"/v1/documents/{upload['document_id']}")).status_code == 404
        assert await api.found("值班", vector_weight=0) == []
        assert len(api.originals()) == 1


async def test_a_document_deleted_just_after_it_was_stored_ends_the_waiting_as_cancelled(api: Api) -> None:
    """Who waits for the upload must not be told that there never was such a document."""
    upload = await accepted(api, "a.md", "每三个月更换一次滤芯。")
    await job_when(api, upload["job_id"], "ready")
    assert (await api.http.delete(f"/v1/documents/{upload['document_id']}")).status_code == 204
    waiting = Accepted(UUID(upload["job_id"]), UUID(upload["document_id"]), "a.md", "default")
    with pytest.raises(JobCancelled, match="its document was deleted") as cancelled:
        await result_of(api.services.engine, waiting)
    assert cancelled.value.details == {"document_id": upload["document_id"], "job_id": upload["job_id"]}
