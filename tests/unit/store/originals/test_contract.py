"""What every store of originals does."""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import NotFound
from service.store.originals import Originals

LARGE = 30 * 1024 * 1024 + 17
KEY = re.compile(r"rag/\d{4}/\d{2}/\d{2}/[0-9a-f-]{36}\.txt")


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=1)


async def put(originals: Originals, folder: Path, content: bytes, name: str = "a.txt") -> str:
    path = folder / "upload"
    path.write_bytes(content)
    return await originals.put(path, name)


async def read(originals: Originals, key: str, start: int = 0, end: int | None = None) -> bytes:
    _, pieces = await originals.stream(key, start, end)
    return b"".join([piece async for piece in pieces])


async def keys(originals: Originals, moment: datetime) -> list[str]:
    return [key async for page in originals.older_than(moment) for key in page]


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024 + 1, LARGE])
async def test_what_was_put_comes_back(originals: Originals, tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    key = await put(originals, tmp_path, content)
    assert KEY.fullmatch(key)
    reported, pieces = await originals.stream(key)
    received = [piece async for piece in pieces]
    assert (reported, b"".join(received)) == (size, content)
    assert await originals.size(key) == size
    assert max(map(len, received), default=0) <= 16 * 1024 * 1024, "an original is never whole in memory"
    target = tmp_path / "copy"
    await originals.fetch(key, target)
    assert target.read_bytes() == content


async def test_ranges_are_slices(originals: Originals, tmp_path: Path) -> None:
    content = os.urandom(3 * 1024 * 1024)
    key = await put(originals, tmp_path, content)
    size = len(content)
    for start, end in [(0, 1), (5, 20), (size - 1, None), (size - 3, size + 100), (100, size - 100), (1, None)]:
        reported, pieces = await originals.stream(key, start, end)
        assert reported == size
        assert b"".join([piece async for piece in pieces]) == content[start:end], (start, end)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(min_size=1, max_size=300), data=st.data())
async def test_any_range_is_the_slice(
    originals: Originals, tmp_path: Path, content: bytes, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.none() | st.integers(start + 1, len(content) + 10))
    key = await put(originals, tmp_path, content)
    assert await read(originals, key, start, end) == content[start:end]


async def test_a_missing_original_is_not_found_and_deleting_it_is_no_error(
    originals: Originals, tmp_path: Path
) -> None:
    key = await put(originals, tmp_path, b"x")
    other = await put(originals, tmp_path, b"y")
    await originals.delete(key)
    await originals.delete(key)
    copy = tmp_path / "copy"
    for act in (originals.size(key), originals.stream(key), originals.stream(key, 0, 1), originals.fetch(key, copy)):
        with pytest.raises(NotFound):
            await act
    assert await read(originals, other) == b"y"


async def test_the_list_knows_young_from_old(originals: Originals, tmp_path: Path) -> None:
    assert await keys(originals, soon()) == []
    stored = {await put(originals, tmp_path, b"x") for _ in range(3)}
    assert set(await keys(originals, soon())) == stored
    assert await keys(originals, datetime.now(UTC) - timedelta(minutes=1)) == []


async def test_the_list_has_pages(originals: Originals, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(b"x")
    stored: set[str] = set()
    for _ in range(70):
        stored |= set(await asyncio.gather(*(originals.put(path, "a.txt") for _ in range(15))))
    pages = [page async for page in originals.older_than(soon())]
    assert len(pages) >= 3
    assert len(stored) == 1050, "more than a page of S3"
    assert sorted(key for page in pages for key in page) == sorted(stored)


async def test_a_check_leaves_nothing_behind(originals: Originals) -> None:
    await originals.check()
    assert await keys(originals, soon()) == []
