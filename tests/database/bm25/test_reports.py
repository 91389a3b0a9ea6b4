"""Operators see a lost index: readiness by HTTP, and the doctor, who mends it."""

from __future__ import annotations

from pathlib import Path

import psycopg
from pydantic import SecretStr

from service.cli.work.checks import State
from service.cli.work.database_checks import check_database
from service.config import DatabaseSettings, Settings
from service.db.bm25.repair import LOCK
from service.extract import create_extractor
from tests.api.conftest import api_settings, opener, running
from tests.database.bm25.library import lose_sentinels, sentinels, watched, write
from tests.fakes.hash_embedder import HashEmbedder


async def test_readiness_is_degraded_and_searches_are_answered(database: str, tmp_path: Path) -> None:
    write(database, range(2))
    settings = api_settings(database, tmp_path)
    extractor = create_extractor(settings.extract)
    with psycopg.connect(database, autocommit=True) as rebuilding:
        rebuilding.execute("select pg_advisory_lock(%s)", [LOCK])  # so the application's own guard finds it taken
        lose_sentinels(database)
        async with running(settings, opener(extractor, HashEmbedder(384))) as api:
            ready = await api.http.get("/readyz")
            assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
            assert [reason["code"] for reason in ready.json()["reasons"]] == ["bm25_rebuilding"]
            answer = (await api.search("N1")).json()
            assert [warning["code"] for warning in answer["warnings"]] == ["bm25_rebuilding"]
            assert answer["passages"]
    await extractor.close()


async def test_the_doctor_reports_and_repairs(database: str) -> None:
    write(database, range(2))
    settings = Settings(_env_file=None, database=DatabaseSettings(url=SecretStr(database)))
    lose_sentinels(database)
    sick = {finding.part: finding for finding in await check_database(settings)}
    for name in ("child_chunk_bm25", "parent_chunk_bm25"):
        assert (sick[name].state, sick[name].mend) == (State.FAIL, "fuzi doctor --repair")
    findings = list(await check_database(settings, mend=True))
    assert [finding.message.split(":")[0] for finding in findings if finding.part == "repair"] == [
        "child_chunk_bm25 rebuilt",
        "parent_chunk_bm25 rebuilt",
    ]
    assert State.FAIL not in {finding.state for finding in findings}
    engine, _ = watched(database)
    assert await sentinels(engine) == 2
    await engine.dispose()
