"""`fuzi jobs retry` with all dead letters there are: those that must stay dead hold nobody up."""

from __future__ import annotations

from uuid import uuid4

import psycopg

from tests.cli.running import Fuzi, answer

_DOCUMENT = """
    with c as (insert into rag.collection (name) values (%(source)s) returning id)
    insert into rag.document (id, collection_id, source, file_name, media_type, size_bytes, sha256, object_key, status)
    select %(document)s, id, %(source)s, %(source)s, 'application/pdf', 3, '\\x00', 'rag/' || %(source)s, 'failed'
    from c
"""
_JOB = """
    insert into rag.job (id, document_id, collection_id, source, file_name, object_key, size_bytes, sha256, status,
        failed_stage, attempts, error_code, error_message, created_at, finished_at)
    select %(job)s, d.id, d.collection_id, d.source, d.file_name, d.object_key || '.' || %(age)s, 3, '\\x00', 'failed',
        'extract', 1, 'corrupt', 'no PDF', now() - make_interval(hours => %(age)s), now()
    from rag.document as d where d.id = %(document)s
"""


def dead_letters(dsn: str, source: str, ages: list[int]) -> list[str]:
    """A document with failed uploads that were accepted so many hours ago; returns their jobs."""
    document, jobs = uuid4(), [str(uuid4()) for _ in ages]
    with psycopg.connect(dsn) as connection:
        connection.execute(_DOCUMENT, {"document": document, "source": source})
        for job, age in zip(jobs, ages, strict=True):
            connection.execute(_JOB, {"job": job, "document": document, "age": age})
    return jobs


def test_every_dead_letter_that_may_go_on_goes_on(fuzi: Fuzi, database: str) -> None:
    here = {"FUZI_DATABASE__URL": database}
    old, new = dead_letters(database, "a.pdf", [2, 1])
    others = dead_letters(database, "b.pdf", [3])
    nobody = str(uuid4())
    result = fuzi("jobs", "retry", old, nobody, new, others[0], "--json", env=here)
    retried = answer(result)
    assert (result.exit_code, [job["job_id"] for job in retried["jobs"]]) == (1, [new, others[0]])
    assert [(one["job_id"], one["code"]) for one in retried["refused"]] == [
        (old, "wrong_job_state"),
        (nobody, "job_not_found"),
    ]
    told = fuzi("jobs", "cancel", old, new, env=here)
    assert (told.exit_code, "a.pdf: cancelled" in told.stderr) == (1, True)
    assert f"{old}: wrong_job_state: the job has ended already: failed" in told.stderr
    last = fuzi("jobs", "retry", old, "--json", env=here)
    assert (last.exit_code, answer(last).keys()) == (0, {"jobs"})
