"""The whole service with the real local model: a paraphrase that shares no word is found."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from service.config import DatabaseSettings, Settings
from service.wiring import open_services
from tests.api.conftest import running


async def test_meaning_and_part_numbers_are_found(database: str, tmp_path: Path) -> None:
    settings = Settings(
        _env_file=None, home=tmp_path / "home", database=DatabaseSettings(url=SecretStr(database), pool_size=4)
    )
    async with running(settings, open_services) as api:
        await api.put("差旅.txt", "员工出差的住宿费用，每晚不得超过四百元，凭发票报销。")
        await api.put("滤芯.txt", "更换滤芯时，请使用型号 AX-200B 的滤芯。")
        await api.put("食堂.txt", "食堂每天中午十一点半开始供应午饭。")
        by_meaning = await api.search("住酒店最多能花多少钱", fts_weight=0, top_n=1)
        assert [passage["source"] for passage in by_meaning.json()["passages"]] == ["差旅.txt"]
        by_number = await api.search("AX-200B", vector_weight=0)
        assert [passage["source"] for passage in by_number.json()["passages"]] == ["滤芯.txt"]
        ready = await api.http.get("/readyz")
        assert (ready.status_code, ready.json()["reasons"]) == (200, [])
