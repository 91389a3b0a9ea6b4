"""The recorded cases of the area `extract`, at the level of this room."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from service.config import ExtractSettings
from service.errors import Encrypted, ExtractionFailed, ExtractionTimeout
from service.extract import Extractor, create_extractor
from service.types import ExtractRequest
from tests.fakes.tika_server import Answer, Hang, Step, running_tika_server
from tests.inputs import SHARED

with (SHARED / "cases" / "field_cases.jsonl").open(encoding="utf-8") as _file:
    _CASES = {case["id"]: case for case in map(json.loads, _file) if case["area"] == "extract"}


def case(number: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Input and expectation of a case."""
    found = _CASES[f"BR-{number}"]
    return found["input"], found["expected"]


def written(folder: Path, name: str, data: bytes) -> ExtractRequest:
    path = folder / name
    path.write_bytes(data)
    return ExtractRequest(path, name)


def test_every_case_of_the_area_is_here() -> None:
    assert sorted(_CASES) == [f"BR-{number:03d}" for number in range(20, 26)]


async def test_020_gbk_text(tmp_path: Path, extractor: Extractor) -> None:
    given, expected = case("020")
    extracted = await extractor.extract(written(tmp_path, given["file_name"], base64.b64decode(given["file_base64"])))
    assert extracted.text.strip() == expected["text_equals"]


async def test_021_nul_in_the_answer(tmp_path: Path) -> None:
    given, _ = case("021")
    async_text = given["extracted_text"]
    assert "\0" in async_text
    with running_tika_server() as fake:
        fake.script["nul.docx"] = [Answer(text=async_text)]
        extractor = create_extractor(ExtractSettings(adapter="server", tika_url=fake.url, workers=1))
        extracted = await extractor.extract(written(tmp_path, "nul.docx", b"any bytes"))
        await extractor.close()
    assert extracted.text == async_text.replace("\0", "")
    assert [extracted.text[block.start : block.end] for block in extracted.blocks] == [extracted.text]


async def test_022_locked_pdf(tmp_path: Path, extractor: Extractor) -> None:
    given, _ = case("022")
    for file in given["files"]:
        data = base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()
        request = written(tmp_path, file["name"], data)
        if file["name"] == "locked.pdf":
            with pytest.raises(Encrypted, match="password"):
                await extractor.extract(request)
        else:
            assert (await extractor.extract(request)).text == "普通文件内容。"


def _step(word: str) -> Step:
    if word == "hang":
        return Hang(300)
    status, _, text = word.partition(" ")
    return Answer(int(status), text)


async def test_023_server_busy_slow_or_failing_once(tmp_path: Path) -> None:
    given, _ = case("023")
    with running_tika_server() as fake:
        fake.script = {name: [_step(word) for word in words] for name, words in given["extract_server_script"].items()}
        settings = ExtractSettings(adapter="server", tika_url=fake.url, workers=2, timeout_seconds=8)
        extractor = create_extractor(settings)
        requests = [written(tmp_path, name, name.encode()) for name in ("b.docx", "a.docx", "c.docx")]
        b, a, c = await asyncio.gather(*map(extractor.extract, requests), return_exceptions=True)
        await extractor.close()
    assert not isinstance(a, BaseException)
    assert a.text == "正文甲。"
    assert not isinstance(c, BaseException)
    assert c.text == "正文丙。"
    assert isinstance(b, ExtractionTimeout)


async def test_024_blanks_between_han_characters(tmp_path: Path) -> None:
    given, expected = case("024")
    with running_tika_server() as fake:
        fake.script["a.pdf"] = [Answer(text=given["extracted_text"], media_type="application/pdf")]
        extractor = create_extractor(ExtractSettings(adapter="server", tika_url=fake.url, workers=1))
        request = written(tmp_path, "a.pdf", b"%PDF-1.7 ")
        tidied = (await extractor.extract(request)).text
        untouched = (await extractor.extract(ExtractRequest(request.path, "a.pdf", reflow=False))).text
        await extractor.close()
    assert expected["query"] in tidied
    assert expected["kept"] in tidied
    assert tidied == "知识库检索服务支持 open source 组件。"
    assert untouched == given["extracted_text"]


async def test_025_bomb_in_the_server(tmp_path: Path) -> None:
    given, _ = case("025")
    with running_tika_server() as fake:
        fake.script = {name: [_step(word) for word in words] for name, words in given["extract_server_script"].items()}
        extractor = create_extractor(ExtractSettings(adapter="server", tika_url=fake.url, workers=1))
        with pytest.raises(ExtractionFailed, match="bomb"):
            await extractor.extract(written(tmp_path, "bomb.zip", b"PK bomb"))
        assert len(fake.requests) <= 4
        assert (await extractor.extract(written(tmp_path, "next.txt", "正常内容。".encode()))).text == "正常内容。"
        await extractor.close()
