"""What the REST service says about jobs, in JSON."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from service.api.schemas import Answer, Asked, Storable
from service.queue.jobs import JobStatus


class JobAnswer(Answer):
    """One accepted upload. An error code beside an unfinished status tells why its last attempt failed."""

    job_id: UUID = Field(validation_alias="id")
    document_id: UUID
    collection: str
    source: str
    file_name: str
    size_bytes: int
    status: JobStatus
    failed_stage: str | None = Field(description="step in which the last attempt failed")
    attempts: int
    child_count: int | None
    done_count: int = Field(description="child chunks that have their vector by now")
    embedded_count: int
    reused_count: int
    outcome: str | None
    error_code: str | None
    error_message: str | None
    timings_ms: dict[str, float]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobList(Answer):
    """One page of jobs, newest first; ``total`` counts all that the filters let through."""

    jobs: list[JobAnswer]
    total: int
    limit: int
    offset: int


class JobQuery(Asked):
    """Which jobs to list."""

    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=2**31 - 1)
    document_id: UUID | None = None
    collection: Storable | None = None
    status: JobStatus | None = None
    unfinished: bool | None = Field(None, description="true: only jobs that go on; false: only those that ended")
