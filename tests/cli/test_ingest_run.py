from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from rich.console import Console

from service.cli.show.ingest_progress import IngestProgress
from service.cli.show.ingest_summary import draw_summary, ingest_json
from service.cli.work.files import FoundFile
from service.cli.work.ingest_run import FileResult, IngestRun
from service.errors import Corrupt, DatabaseUnavailable, FuziError
from service.types import IngestRequest


def found(source: str, size_bytes: int = 100, complaint: str | None = None) -> FoundFile:
    return FoundFile(Path("/files") / source, source, size_bytes, complaint)


def upload(source: str, outcome: str = "created", **changes: Any) -> dict[str, Any]:
    return {
        "document_id": "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11",
        "source": source,
        "collection": "default",
        "outcome": outcome,
        "status": "ready",
        "parent_count": 2,
        "child_count": 6,
        "warnings": [],
        "duplicate_of": None,
        "timings_ms": {},
        **changes,
    }


class Script:
    """A backend that plays a part per source: an outcome, an error to raise, or an event to wait for."""

    def __init__(self, parts: dict[str, str | Exception | asyncio.Event]) -> None:
        self.parts = parts
        self.requests: list[IngestRequest] = []
        self.at_work = self.most_at_work = 0

    async def ingest(self, request: IngestRequest, embedded: Callable[[int, int], None]) -> dict[str, Any]:
        self.requests.append(request)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            return await self._play(request.source, embedded)
        finally:
            self.at_work -= 1

    async def _play(self, source: str, embedded: Callable[[int, int], None]) -> dict[str, Any]:
        part = self.parts.get(source, "created")
        await asyncio.sleep(0)
        if isinstance(part, Exception):
            raise part
        if isinstance(part, asyncio.Event):
            await part.wait()
            part = "created"
        embedded(3, 6)
        return upload(source, part)

    async def search(self, body: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def documents(self, query: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def document(self, document_id: UUID) -> dict[str, Any]:
        raise NotImplementedError

    async def delete(self, document_id: UUID) -> None:
        raise NotImplementedError


class Heard:
    def __init__(self) -> None:
        self.events: list[str] = []

    def began(self, file: FoundFile) -> None:
        self.events.append(f"began {file.source}")

    def embedded(self, file: FoundFile, done: int, total: int) -> None:
        self.events.append(f"embedded {file.source} {done}/{total}")

    def finished(self, result: FileResult) -> None:
        self.events.append(f"finished {result.file.source} {result.outcome}")

    def stopping(self, file_count: int) -> None:
        self.events.append(f"stopping {file_count}")


async def test_one_bad_file_is_one_failed_result() -> None:
    files = [found("a.md"), found("b.pdf"), found("c.md", complaint="no"), found("d.md"), found("e.md"), found("f.md")]
    parts = {"b.pdf": Corrupt("cut off"), "d.md": PermissionError(13, "Permission denied"), "e.md": ValueError("oops")}
    run = IngestRun(files, "legal", {"year": 2024})
    backend = Script(parts)
    await run.run(backend, 2, Heard())
    assert [(result.file.source, result.outcome, result.error and result.error.code) for result in run.results] == [
        ("a.md", "created", None),
        ("b.pdf", "failed", "corrupt"),
        ("c.md", "failed", "invalid_input"),
        ("d.md", "failed", "invalid_input"),
        ("e.md", "failed", "internal_error"),
        ("f.md", "created", None),
    ]
    assert {(request.collection, json.dumps(request.metadata)) for request in backend.requests} == {
        ("legal", '{"year": 2024}')
    }


@pytest.mark.parametrize("concurrency", [1, 3, 20])
async def test_no_more_files_than_asked_for_are_worked_on(concurrency: int) -> None:
    backend = Script({})
    run = IngestRun([found(f"{number}.md") for number in range(10)], "default", None)
    await run.run(backend, concurrency, Heard())
    assert len(run.results) == 10
    assert backend.most_at_work == min(concurrency, 10)


async def test_a_lost_database_ends_the_run_and_keeps_what_is_done() -> None:
    files = [found("a.md"), found("b.md"), found("c.md")]
    run = IngestRun(files, "default", None)
    with pytest.raises(DatabaseUnavailable):
        await run.run(Script({"b.md": DatabaseUnavailable("gone")}), 1, Heard())
    assert [result.file.source for result in run.results] == ["a.md"]


async def test_cancelling_keeps_what_is_done_and_leaves_no_work_behind() -> None:
    backend = Script({"b.md": asyncio.Event()})
    run, heard = IngestRun([found("a.md"), found("b.md"), found("c.md")], "default", None), Heard()
    task = asyncio.create_task(run.run(backend, 1, heard))
    while "began b.md" not in heard.events:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [result.file.source for result in run.results] == ["a.md"]
    assert backend.at_work == 0


async def test_files_under_way_when_it_is_stopped_may_finish_and_count_as_done() -> None:
    gates = {"b.md": asyncio.Event(), "c.md": asyncio.Event()}
    run, heard = IngestRun([found(f"{name}.md") for name in "abcde"], "default", None), Heard()
    task = asyncio.create_task(run.run(Script({**gates}), 2, heard, grace_seconds=0.5))
    while "began c.md" not in heard.events:
        await asyncio.sleep(0)
    task.cancel()
    while "stopping 2" not in heard.events:
        await asyncio.sleep(0)
    gates["b.md"].set()  # and c.md takes too long
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [result.file.source for result in run.results] == ["a.md", "b.md"]
    assert not {"began d.md", "began e.md"} & set(heard.events)


async def test_the_watch_hears_of_every_step() -> None:
    heard = Heard()
    await IngestRun([found("a.md")], "default", None).run(Script({}), 1, heard)
    assert heard.events == ["began a.md", "embedded a.md 3/6", "finished a.md created"]


def test_the_bar_counts_bytes_of_work_and_files_that_need_none_leave_it() -> None:
    files = [found("a.md", 100), found("b.md", 300), found("c.md", 600)]
    seconds = iter(range(0, 1000, 2))
    progress = IngestProgress(Console(file=io.StringIO()), files, clock=lambda: float(next(seconds)))
    assert progress.line[:3] == (0, 1000, "0/3 files")
    progress.began(files[0])
    progress.finished(FileResult(files[0], upload("a.md", "unchanged")))
    assert progress.line[:3] == (0, 900, "1/3 files, 1 unchanged")
    progress.began(files[1])
    progress.embedded(files[1], 3, 6)
    done, total, _, rate = progress.line
    assert (0.4 * 300 < done < 0.6 * 300, total) == (True, 900)
    assert rate.endswith(" chunks/s")
    progress.finished(FileResult(files[1], upload("b.md")))
    progress.began(files[2])
    progress.finished(FileResult(files[2], error=Corrupt("cut off")))
    assert progress.line[:3] == (900, 900, "3/3 files, 1 unchanged, 1 failed")


def results() -> list[FileResult]:
    notices = [{"code": "blank_page", "message": "第 3 页没有文字", "page": 3}]
    return [
        FileResult(found("制度/差旅.docx"), upload("制度/差旅.docx")),
        FileResult(found("扫描件.pdf"), upload("扫描件.pdf", "replaced", warnings=notices)),
        FileResult(found("b.md"), upload("b.md", "unchanged", duplicate_of="5f0a4c55-0000-4000-8000-000000000000")),
        FileResult(found("坏的 [1].docx"), error=Corrupt("文件损坏 [not markup]")),
    ]


@pytest.mark.parametrize("width", [30, 200])
def test_the_summary_names_every_failed_file_with_reason_and_code(width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    draw_summary(console, results(), 4.0)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    words = "".join(text.split())
    for expected in ("created16", "replaced16", "unchanged16", "updated00", "failed1", "4filesin4.0s,3.0chunks/s"):
        assert expected in words
    assert "corrupt" in text
    assert {"坏的", "[1].docx"} <= set(text.split()) or "坏的 [1].docx" in text
    assert "第 3 页没有文字" in text
    assert "5f0a4c55-0000-4000-8000-000000000000" in text


def test_the_json_has_a_result_per_file_and_totals() -> None:
    document = ingest_json(results(), 4.0, None)
    assert [result["outcome"] for result in document["results"]] == ["created", "replaced", "unchanged", "failed"]
    assert document["results"][0]["error"] is None
    assert document["results"][0]["child_count"] == 6
    assert document["results"][3]["error"]["code"] == "corrupt"
    assert document["totals"] == {
        "files": 4,
        "created": 1,
        "replaced": 1,
        "unchanged": 1,
        "updated": 0,
        "failed": 1,
        "parent_count": 6,
        "child_count": 18,
        "size_bytes": 400,
        "seconds": 4.0,
    }
    assert (document["interrupted"], document["error"]) == (False, None)


def test_the_json_tells_what_stopped_a_run() -> None:
    assert ingest_json([], 1.0, KeyboardInterrupt())["interrupted"] is True
    stopped: FuziError = DatabaseUnavailable("gone")
    assert ingest_json([], 1.0, stopped)["error"]["code"] == "database_unavailable"
