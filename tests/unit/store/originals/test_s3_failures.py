"""A bucket that is missing, closed, away, busy, or whose connections break."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from service.errors import FuziError, Misconfigured, NotFound, OriginalsUnavailable
from service.store.originals import Originals
from tests.fakes.s3.server import CutDownload, CutUpload, LoseAnswer, Pass, S3Proxy, S3Server, Status
from tests.unit.store.originals.conftest import OpenBucket
from tests.unit.store.originals.test_contract import LARGE, keys, put, read, soon

SECRET = "a-secret-that-must-not-be-told"


def is_part(method: str, path: str) -> bool:
    return method == "PUT" and "partNumber" in path


async def refusals(originals: Originals, folder: Path) -> list[FuziError]:
    """The errors of every call."""
    path = folder / "upload"
    path.write_bytes(b"x")
    key = "rag/2026/01/01/0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11.txt"
    calls = [
        originals.check(),
        originals.put(path, "a.txt"),
        originals.size(key),
        originals.stream(key),
        originals.fetch(key, folder / "copy"),
        keys(originals, soon()),
        originals.delete(key),
        originals.sweep_unfinished(soon()),
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, FuziError) for answer in answers), answers
    return [answer for answer in answers if isinstance(answer, FuziError)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "s3://no-such-bucket"}, "NoSuchBucket|FUZI_ORIGINALS__URL"),
        ({"access_key": "AKIAWRONG"}, "InvalidAccessKeyId|FUZI_ORIGINALS__ACCESS_KEY"),
        ({"secret_key": SecretStr(SECRET)}, "SignatureDoesNotMatch|FUZI_ORIGINALS__SECRET_KEY"),
    ],
)
async def test_a_store_that_will_not_let_us_in_says_what_to_do(
    open_bucket: OpenBucket, tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    code, setting = words.split("|")
    errors = await refusals(open_bucket(**changes), tmp_path)
    assert [type(error) for error in errors] == [Misconfigured] + [OriginalsUnavailable] * 7
    # a HEAD has no body that would name the reason, but says that the keys are wrong
    told = [error for error in errors if "HEAD" not in error.message]
    assert len(told) >= len(errors) - 1
    assert all(code in error.message for error in told)
    assert all(setting in error.message for error in told[:-1])
    assert not any(SECRET in error.message for error in errors)


async def test_a_server_that_is_away(open_bucket: OpenBucket, tmp_path: Path) -> None:
    originals = open_bucket(endpoint="http://127.0.0.1:1", retries=1)
    assert {type(error) for error in await refusals(originals, tmp_path)} == {OriginalsUnavailable}


@pytest.mark.parametrize("trouble", [Status(500), Status(503, "SlowDown"), Status(503), CutUpload(), LoseAnswer()])
async def test_an_upload_outlives_passing_trouble(
    open_bucket: OpenBucket, s3_proxy: S3Proxy, tmp_path: Path, trouble: Status | CutUpload
) -> None:
    originals = open_bucket()
    s3_proxy.script(trouble, trouble)
    content = os.urandom(100_000)
    key = await put(originals, tmp_path, content)
    assert len(s3_proxy.requests) == 3
    s3_proxy.script(trouble, matching=is_part)
    large = os.urandom(LARGE)
    large_key = await put(originals, tmp_path, large)
    assert (await read(originals, key), await read(originals, large_key)) == (content, large)
    assert sorted(await keys(originals, soon())) == sorted([key, large_key])


async def test_trouble_that_does_not_pass_is_an_error_and_leaves_no_object(
    open_bucket: OpenBucket, s3_proxy: S3Proxy, s3_server: S3Server, bucket: str, tmp_path: Path
) -> None:
    originals = open_bucket(retries=1)
    s3_proxy.always = CutUpload()
    for size, hit in ((10, lambda method, _path: method == "PUT"), (LARGE, is_part)):
        s3_proxy.script(matching=hit)
        with pytest.raises(OriginalsUnavailable):
            await put(originals, tmp_path, os.urandom(size))
    assert await keys(originals, soon()) == []
    s3_proxy.always = Pass()
    await originals.sweep_unfinished(soon())
    assert s3_server.unfinished(bucket) == []


@pytest.mark.parametrize("cut_at", [0, 1, 70_000, 1024 * 1024 + 5])
async def test_a_download_that_is_cut_goes_on_or_fails_but_never_ends(
    open_bucket: OpenBucket, s3_proxy: S3Proxy, tmp_path: Path, cut_at: int
) -> None:
    originals = open_bucket(retries=2)
    content = os.urandom(5 * 1024 * 1024)
    key = await put(originals, tmp_path, content)
    s3_proxy.script(CutDownload(cut_at))
    assert await read(originals, key) == content
    assert await read(originals, key, 1000) == content[1000:]

    s3_proxy.always = CutDownload(cut_at)
    received = bytearray()
    with pytest.raises(OriginalsUnavailable):
        await gather(originals, key, received)
    assert content.startswith(received)
    assert len(received) < len(content)
    with pytest.raises(OriginalsUnavailable):
        await originals.fetch(key, tmp_path / "copy")


async def gather(originals: Originals, key: str, received: bytearray) -> None:
    _, pieces = await originals.stream(key)
    async for piece in pieces:
        received += piece


async def test_a_busy_server_is_no_missing_original(open_bucket: OpenBucket, s3_proxy: S3Proxy, tmp_path: Path) -> None:
    originals = open_bucket(retries=1)
    key = await put(originals, tmp_path, b"x")
    s3_proxy.always = Status(503, "SlowDown")
    with pytest.raises(OriginalsUnavailable, match="SlowDown"):
        await originals.stream(key)
    with pytest.raises(OriginalsUnavailable, match="SlowDown"):
        await originals.check()
    s3_proxy.script(Status(404, "NoSuchKey"))
    with pytest.raises(NotFound):
        await originals.stream(key)


async def test_uploads_that_were_never_finished_are_given_up_once_they_are_old(
    open_bucket: OpenBucket, s3_server: S3Server, bucket: str, tmp_path: Path
) -> None:
    """The server dates every unfinished upload to 2010."""
    originals = open_bucket()
    begin = s3_server.client.create_multipart_upload
    ours = [f"一部/originals/rag/2026/01/01/{number} 件.txt" for number in range(3)]
    for key in [*ours, "一部/elsewhere.txt"]:
        begin(Bucket=bucket, Key=key)
    assert await originals.sweep_unfinished(datetime(2009, 1, 1, tzinfo=UTC)) == 0
    assert sorted(s3_server.unfinished(bucket)) == sorted([*ours, "一部/elsewhere.txt"])
    assert await originals.sweep_unfinished(datetime.now(UTC) - timedelta(hours=1)) == 3
    assert s3_server.unfinished(bucket) == ["一部/elsewhere.txt"]
    assert await originals.sweep_unfinished(soon()) == 0
