"""Damaged files against the guarded extractor: each ends in a text or in a coded failure, never in a dead service."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from service.config import ExtractSettings
from service.errors import EmptyFile, ExtractionCrashed, ExtractionFailed, ExtractionTimeout, FuziError
from service.extract import Extractor, create_extractor
from service.types import DocumentStatus, ExtractedText, ExtractRequest
from tests.inputs import SHARED

_FOLDER = SHARED / "data" / "documents"
_LARGEST = 100_000
_SAMPLES = sorted(
    path for path in _FOLDER.iterdir() if path.suffix != ".tsv" and 0 < path.stat().st_size <= _LARGEST
)  # fmt: skip
_ROUNDS = 4


def flip_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 3, 10, 50, 200])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def cut_off(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(1, len(data)) :]


def blank_out(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    end = min(start + rng.choice([4, 64, 512]), len(data))
    data[start:end] = bytes(end - start)


def repeat_a_piece(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.choice([16, 256, 2048])]


def insert_noise(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = rng.randbytes(rng.choice([1, 8, 100]))


_MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip_bits,
    cut_off,
    blank_out,
    repeat_a_piece,
    insert_noise,
)


@pytest.fixture(scope="module")
async def extractor() -> AsyncIterator[Extractor]:
    made = create_extractor(ExtractSettings(ocr=False, workers=2, timeout_seconds=60, memory_mb=1024))
    yield made
    await made.close()


def test_there_are_samples() -> None:
    assert len(_SAMPLES) >= 25


def _check(extracted: ExtractedText) -> None:
    assert extracted.status in {DocumentStatus.READY, DocumentStatus.READY_WITH_WARNINGS}
    assert extracted.text.strip()
    assert "\0" not in extracted.text
    extracted.text.encode("utf-8")
    for block in extracted.blocks:
        assert 0 <= block.start < block.end <= len(extracted.text)
    starts = [page.start for page in extracted.pages]
    assert starts == sorted(starts)
    assert all(page.start <= page.end <= len(extracted.text) for page in extracted.pages)


async def _read_and_check(extractor: Extractor, path: Path, name: str) -> None:
    """Read one file; a text must be sound, a failure coded. Whatever else is raised fails the test."""
    failure: FuziError | None = None
    try:
        _check(await extractor.extract(ExtractRequest(path, name)))
    except (ExtractionFailed, EmptyFile) as error:
        failure = error
    if failure is not None:
        assert failure.message
        assert not isinstance(failure, ExtractionTimeout)
    if isinstance(failure, ExtractionCrashed):
        # The parser may give up on a file, but our own readers have no business to fall over one.
        assert "Error" not in str(failure.details.get("reason", "")), failure.details


@pytest.mark.parametrize("sample", _SAMPLES, ids=[path.name for path in _SAMPLES])
async def test_mutated_sample(sample: Path, tmp_path: Path, extractor: Extractor) -> None:
    rng = random.Random(sample.name)  # the name is the seed: each sample fails the same way every time
    original = sample.read_bytes()
    jobs = []
    for number in range(_ROUNDS):
        data = bytearray(original)
        rng.choice(_MUTATIONS)(data, rng)
        path = tmp_path / f"{number}-{sample.name}"
        path.write_bytes(data)
        jobs.append(_read_and_check(extractor, path, sample.name))
    await asyncio.gather(*jobs)


@pytest.mark.parametrize("seed", range(4))
async def test_noise_under_every_name(seed: int, tmp_path: Path, extractor: Extractor) -> None:
    rng = random.Random(seed)
    for ending in ("pdf", "docx", "xls", "zip", "eml", "html", "md", "csv", "txt", "png", "rtf", "epub", "bin"):
        path = tmp_path / f"noise.{ending}"
        path.write_bytes(rng.randbytes(rng.choice([1, 30, 3000])))
        await _read_and_check(extractor, path, path.name)


async def test_good_file_is_still_read_afterwards(tmp_path: Path, extractor: Extractor) -> None:
    path = tmp_path / "good.txt"
    path.write_text("普通文件内容。", encoding="utf-8")
    assert (await extractor.extract(ExtractRequest(path, path.name))).text == "普通文件内容。"
