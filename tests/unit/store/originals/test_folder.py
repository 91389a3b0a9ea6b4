"""The folder of the originals: durable, and tidy after full disks and kills."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from obstore.store import LocalStore

from service.config import OriginalsSettings
from service.errors import Misconfigured, OriginalsUnavailable
from service.store.originals import Originals
from service.store.originals.folder import Folder
from tests.unit.store.originals.conftest import opened
from tests.unit.store.originals.test_contract import LARGE, keys, put, read, soon


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "originals"


@pytest.fixture
def kept(folder: Path) -> Originals:
    return opened(OriginalsSettings(), folder.parent)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """As a full disk: a write beyond it fails (Python ignores the signal that comes along)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [1024 * 1024, LARGE])
async def test_a_full_disk_is_an_error_and_leaves_nothing(
    kept: Originals, folder: Path, tmp_path: Path, size: int
) -> None:
    path = tmp_path / "upload"
    path.write_bytes(os.urandom(size))
    with files_no_larger_than(size - 1), pytest.raises(OriginalsUnavailable):
        await kept.put(path, "a.txt")
    assert await keys(kept, soon()) == []
    await kept.sweep_unfinished(soon())
    assert files(folder) == []
    assert await read(kept, await kept.put(path, "a.txt")) == path.read_bytes()


async def test_what_a_kill_leaves_is_swept_once_it_is_old(kept: Originals, folder: Path, tmp_path: Path) -> None:
    """The writer reads from a pipe that never ends, so the kill comes in the middle."""
    good = await put(kept, tmp_path, b"x")
    program = f"""
        import obstore, sys
        from obstore.store import LocalStore
        def endless():
            while True:
                yield b"x" * 100_000
        obstore.put(LocalStore({str(folder)!r}), "rag/2026/01/01/half.txt", endless(), chunk_size=100_000)
    """
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    try:
        deadline = time.monotonic() + 30
        while not (left := [path for path in files(folder) if "#" in path.name and path.stat().st_size]):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert await keys(kept, soon()) == [good], "it never counts as an original"
    assert await kept.sweep_unfinished(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert left[0].exists(), "it may belong to an upload under way"
    assert await kept.sweep_unfinished(soon()) == 1
    assert files(folder) == [folder / good]


async def test_an_original_and_its_folders_are_synced_before_put_returns(folder: Path, tmp_path: Path) -> None:
    synced: list[str] = []
    shelf = Folder(folder, sync=lambda handle: synced.append(os.readlink(f"/proc/self/fd/{handle}")))
    originals = Originals(LocalStore(folder, mkdir=True), shelf, lambda: datetime.now(UTC), uuid4)
    key = await put(originals, tmp_path, b"x")
    assert synced == [str(folder / key), *(str(folder / part) for part in Path(key).parents)]


async def test_an_original_that_the_disk_does_not_take_is_an_error(folder: Path, tmp_path: Path) -> None:
    def refuse(_handle: int) -> None:
        raise OSError(5, "Input/output error")

    shelf = Folder(folder, sync=refuse)
    originals = Originals(LocalStore(folder, mkdir=True), shelf, lambda: datetime.now(UTC), uuid4)
    with pytest.raises(OriginalsUnavailable, match="Input/output error"):
        await put(originals, tmp_path, b"x")


async def test_a_folder_that_cannot_be_made_or_written_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "originals").write_text("a file stands in the way")
    with pytest.raises(Misconfigured, match="originals"):
        await opened(OriginalsSettings(), tmp_path).check()


@pytest.mark.parametrize(
    ("url", "more"),
    [
        ("memory:///", {}),
        ("gs://bucket", {}),
        ("/srv/originals", {}),
        ("file://srv/originals", {}),
        ("file:///", {}),
        ("s3://", {}),
        ("s3://bucket", {"access_key": "a"}),
        ("s3://bucket", {"endpoint": "http://minio:9000"}),
        ("s3://bucket", {"endpoint": "minio:9000", "allow_http": True}),
        ("s3://bucket", {"endpoint": "https://minio:9000/bucket"}),
    ],
)
def test_settings_that_cannot_work_are_refused(url: str, more: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"url|endpoint|access_key"):
        OriginalsSettings(url=url, **more)  # type: ignore[arg-type]
