"""Parser processes: reused, limited, replaced; whatever a file does, it ends that file and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from service.config import ExtractSettings
from service.errors import ExtractionCrashed, ExtractionLimit, ExtractionTimeout
from service.extract import Extractor, create_extractor
from service.types import ExtractRequest
from tests.fakes.tika_server import FakeTikaServer, Hang, running_tika_server, wait_for_requests
from tests.unit.extract.made_files import long_xlsx, nested_zip, small_docx, swollen_docx, zip_bytes

_ROOT = Path(__file__).parents[3]


@pytest.fixture
def hanging_server() -> Iterator[FakeTikaServer]:
    """A Tika server that never answers for ``slow.docx``."""
    with running_tika_server() as fake:
        fake.script["slow.docx"] = [Hang(300)]
        yield fake


@asynccontextmanager
async def made(**settings: object) -> AsyncIterator[Extractor]:
    """An extractor of its own, with one process unless told otherwise."""
    extractor = create_extractor(ExtractSettings.model_validate({"ocr": False, "workers": 1, **settings}))
    try:
        yield extractor
    finally:
        await extractor.close()


def parser_pids() -> set[int]:
    """Parser processes of this test process that still run."""
    found = set()
    for child in psutil.Process().children():
        try:
            if "service.extract.worker" in child.cmdline() and child.status() != psutil.STATUS_ZOMBIE:
                found.add(child.pid)
        except psutil.Error:
            continue
    return found


def text_file(folder: Path, name: str = "ok.txt") -> ExtractRequest:
    path = folder / name
    path.write_text("普通文件内容。", encoding="utf-8")
    return ExtractRequest(path, name)


async def test_one_process_reads_many_files(tmp_path: Path) -> None:
    before = parser_pids()
    async with made() as extractor:
        word = small_docx(tmp_path / "a.docx", "一段文字。")
        seen: set[int] = set()
        for _ in range(5):
            await extractor.extract(text_file(tmp_path))
            await extractor.extract(ExtractRequest(word, "a.docx"))
            seen |= parser_pids() - before
        assert len(seen) == 1


async def test_close_ends_every_process(tmp_path: Path) -> None:
    before = parser_pids()
    async with made(workers=2) as extractor:
        await asyncio.gather(*(extractor.extract(text_file(tmp_path, f"{n}.txt")) for n in range(4)))
        assert parser_pids() - before
    assert parser_pids() - before == set()


async def test_file_is_read_again_when_its_process_was_killed_and_fails_alone_when_both_were(
    tmp_path: Path, hanging_server: FakeTikaServer
) -> None:
    before = parser_pids()
    slow = ExtractRequest(small_docx(tmp_path / "slow.docx", "甲"), "slow.docx")
    async with made(adapter="server", tika_url=hanging_server.url) as extractor:
        reading = asyncio.create_task(extractor.extract(slow))
        for attempt in (1, 2):
            await asyncio.to_thread(wait_for_requests, hanging_server, attempt)
            (pid,) = parser_pids() - before
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(ExtractionCrashed):
            await reading
        assert (await extractor.extract(text_file(tmp_path))).text == "普通文件内容。"
        assert pid not in parser_pids()


async def test_process_killed_while_idle_is_replaced(tmp_path: Path) -> None:
    before = parser_pids()
    async with made() as extractor:
        await extractor.extract(text_file(tmp_path))
        (pid,) = parser_pids() - before
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert (await extractor.extract(text_file(tmp_path))).text == "普通文件内容。"


async def test_hang_ends_in_time_out(tmp_path: Path, hanging_server: FakeTikaServer) -> None:
    before = parser_pids()
    slow = ExtractRequest(small_docx(tmp_path / "slow.docx", "甲"), "slow.docx")
    async with made(adapter="server", tika_url=hanging_server.url, timeout_seconds=1) as extractor:
        with pytest.raises(ExtractionTimeout):
            await extractor.extract(slow)
        assert parser_pids() - before == set(), "the hanging process must be gone"
        assert (await extractor.extract(text_file(tmp_path))).text == "普通文件内容。"


async def test_slow_native_parser_ends_in_time_out(tmp_path: Path) -> None:
    book = ExtractRequest(long_xlsx(tmp_path / "long.xlsx", 60_000), "long.xlsx")
    async with made(timeout_seconds=0.2) as extractor:
        with pytest.raises(ExtractionTimeout):
            await extractor.extract(book)


async def test_one_hanging_file_does_not_hold_up_others(tmp_path: Path, hanging_server: FakeTikaServer) -> None:
    slow = ExtractRequest(small_docx(tmp_path / "slow.docx", "甲"), "slow.docx")
    quick = ExtractRequest(small_docx(tmp_path / "quick.docx", "正文丙。"), "quick.docx")
    async with made(adapter="server", tika_url=hanging_server.url, workers=2, timeout_seconds=60) as extractor:
        reading = asyncio.create_task(extractor.extract(slow))
        await asyncio.to_thread(wait_for_requests, hanging_server, 1)
        assert (await extractor.extract(quick)).text == "正文丙。"
        assert not reading.done()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading


async def test_cancelled_caller_frees_the_process(tmp_path: Path, hanging_server: FakeTikaServer) -> None:
    before = parser_pids()
    slow = ExtractRequest(small_docx(tmp_path / "slow.docx", "甲"), "slow.docx")
    async with made(adapter="server", tika_url=hanging_server.url) as extractor:
        reading = asyncio.create_task(extractor.extract(slow))
        await asyncio.to_thread(wait_for_requests, hanging_server, 1)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert parser_pids() - before == set()
        assert (await extractor.extract(text_file(tmp_path))).text == "普通文件内容。"


async def test_memory_limit(tmp_path: Path) -> None:
    bomb = ExtractRequest(swollen_docx(tmp_path / "swollen.docx", 400), "swollen.docx")
    async with made(memory_mb=256, max_characters=2_000_000_000) as extractor:
        with pytest.raises(ExtractionLimit, match="memory"):
            await extractor.extract(bomb)
        assert (await extractor.extract(text_file(tmp_path))).text == "普通文件内容。"


async def test_zip_bomb(tmp_path: Path, native: Extractor) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_bytes([("zeros.txt", bytes(300 << 20))]))
    with pytest.raises(ExtractionLimit, match="bomb"):
        await native.extract(ExtractRequest(path, "bomb.zip"))


async def test_archives_nested_too_deep(tmp_path: Path, native: Extractor) -> None:
    path = tmp_path / "nest.zip"
    path.write_bytes(nested_zip(30))
    with pytest.raises(ExtractionLimit, match="nested"):
        await native.extract(ExtractRequest(path, "nest.zip"))


async def test_deep_part_beside_readable_ones_is_a_warning(tmp_path: Path, native: Extractor) -> None:
    path = tmp_path / "mixed.zip"
    path.write_bytes(zip_bytes([("a.txt", "上层的文字。".encode()), ("nest.zip", nested_zip(30))]))
    extracted = await native.extract(ExtractRequest(path, "mixed.zip"))
    assert "上层的文字。" in extracted.text
    (notice,) = extracted.warnings
    assert "nest.zip" in notice.message
    assert "nested too deep" in notice.message


async def test_archives_within_the_limit_are_read(tmp_path: Path, native: Extractor) -> None:
    path = tmp_path / "nest.zip"
    path.write_bytes(nested_zip(5))
    assert "最里面的文字。" in (await native.extract(ExtractRequest(path, "nest.zip"))).text


@pytest.mark.parametrize("name", ["long.txt", "long.docx"])
async def test_output_limit(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".txt"):
        path.write_text("很长的文字。" * 1000, encoding="utf-8")
    else:
        small_docx(path, *["很长的文字。" * 100] * 10)
    async with made(max_characters=1000) as extractor:
        with pytest.raises(ExtractionLimit, match="1000"):
            await extractor.extract(ExtractRequest(path, name))


def test_orphaned_process_ends_by_itself(tmp_path: Path, hanging_server: FakeTikaServer) -> None:
    """The service is killed while a parser hangs: the alarm ends the parser, nobody else could."""
    slow = small_docx(tmp_path / "slow.docx", "甲")
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from service.config import ExtractSettings; from service.extract import create_extractor\n"
        "from service.types import ExtractRequest\n"
        f"settings = ExtractSettings(adapter='server', tika_url={hanging_server.url!r}, timeout_seconds=2)\n"
        f"asyncio.run(create_extractor(settings).extract(ExtractRequest(Path({str(slow)!r}), 'slow.docx')))\n"
    )
    service = subprocess.Popen([sys.executable, "-c", script], cwd=_ROOT)
    wait_for_requests(hanging_server, 1)
    (parser,) = psutil.Process(service.pid).children()
    service.kill()
    service.wait()
    deadline = time.monotonic() + 60
    while parser.is_running() and parser.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the parser outlives its service"
        time.sleep(0.1)
