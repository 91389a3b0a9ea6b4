"""What `fuzi doctor` says of dimensions, jobs, originals, connections, uploads and the collector of traces."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest

from service.cli.examine.process import check_tracing, check_uploads
from service.cli.examine.stored import check_stored
from service.cli.work.checks import Finding, State
from service.config import ServerSettings, Settings, TracingSettings
from service.errors import Corrupt
from service.types import IngestResult
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.otlp_collector import OtlpCollector
from tests.flows.conftest import Library, accept, flow_settings, idle_services, services_with


async def _found(settings: Settings) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in await check_stored(settings):
        assert (finding.mend is None) == (finding.state is State.OK), "what is not well says how it is mended"
        found.setdefault(finding.part, []).append(finding)
    return found


async def test_a_sound_database_is_well_and_then_what_is_broken_is_named(database: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path / "home")
    async with services_with(settings, HashEmbedder(384)) as services:
        library = Library(services, tmp_path)
        assert isinstance(await library.put("甲.md", "水泵每半年更换一次轴承。"), IngestResult)
        await library.put("乙.md", "滤芯每三个月更换一次。")
        sound = await _found(settings)
        assert {part: [one.state for one in findings] for part, findings in sound.items()} == {
            "dimension": [State.OK], "connections": [State.OK], "jobs": [State.OK], "orphans": [State.OK],
        }  # fmt: skip
        with pytest.raises(Corrupt):
            await library.put("坏.docx", b"PK\x03\x04 cut off")
    originals = settings.home / "originals" / "rag"
    kept = list(originals.rglob("*.md"))
    kept[0].unlink()
    orphan = kept[1].with_name("11111111-2222-3333-4444-555555555555.pdf")
    orphan.write_bytes(b"nobody's")
    os.utime(orphan, (0, 0))
    async with idle_services(settings, HashEmbedder(384)) as services:
        await accept(services, tmp_path, "丙.md", "阀门每月检查一次。")
    with psycopg.connect(database) as connection:
        connection.execute("update rag.job set created_at = now() - interval '1 hour' where status = 'received'")
        connection.execute("delete from queue.procrastinate_workers")
        connection.execute("update rag.embedding_model set dimension = 8")
    broken = await _found(settings)
    assert [one.state for one in broken["dimension"]] == [State.FAIL]
    assert "vector(384), but its model has 8 dimensions" in broken["dimension"][0].message
    failed, waiting = broken["jobs"]
    assert failed.message.startswith("1 uploads failed")
    assert "1 uploads wait, the first for 60 minutes, and no worker runs" in waiting.message
    lost, left = broken["orphans"]
    assert "1 have lost their file" in lost.message
    assert kept[0].name in lost.message
    assert left.message == "1 files in the store belong to no document"


async def test_too_few_connections_are_told_before_they_run_out(database: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path)
    large = settings.model_copy(update={"database": settings.database.model_copy(update={"pool_size": 200})})
    (finding,) = (await _found(large))["connections"]
    assert finding.state is State.WARN
    assert "may open 205" in finding.message


async def test_a_database_without_a_schema_is_left_to_the_other_check(empty_database: str, tmp_path: Path) -> None:
    assert list(await check_stored(flow_settings(empty_database, tmp_path))) == []


async def test_room_for_uploads_is_looked_at_where_they_arrive(tmp_path: Path) -> None:
    async def state(folder: Path, **limits: int) -> State:
        settings = Settings(_env_file=None, server=ServerSettings(upload_folder=folder), limits=limits)  # type: ignore[arg-type]
        (finding,) = await check_uploads(settings)
        assert str(folder) in finding.message
        return finding.state

    assert await state(tmp_path, max_upload_mb=1) is State.OK
    assert await state(tmp_path / "missing") is State.FAIL


async def test_the_collector_of_traces_is_asked_whether_it_listens() -> None:
    async def findings(endpoint: str | None) -> list[Finding]:
        return list(await check_tracing(Settings(_env_file=None, tracing=TracingSettings(endpoint=endpoint))))

    assert await findings(None) == []
    with OtlpCollector() as collector:
        (listening,) = await findings(collector.root)
        assert (listening.state, collector.spans) == (State.OK, [])
    (away,) = await findings("http://127.0.0.1:1")
    assert away.state is State.WARN
    assert away.mend is not None
