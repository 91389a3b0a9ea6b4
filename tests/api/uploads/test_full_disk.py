"""An upload that finds no room is refused in words that tell so, and can be sent again."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.types import Message

from service.api.edge.upload_form import receive_form
from service.config import LimitSettings
from service.errors import Unavailable

BODY = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + b"x" * 4096 + b"\r\n--b--\r\n"


def upload() -> Request:
    async def receive() -> Message:
        return {"type": "http.request", "body": BODY}

    headers = [(b"content-type", b"multipart/form-data; boundary=b")]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


@contextmanager
def no_room() -> Iterator[None]:
    """No file of this process may grow beyond 1,000 bytes: its writes fail as they do on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="the upload cannot be received: File too large"), no_room():
        async with receive_form(upload(), tmp_path, LimitSettings()):
            pass
    assert list(tmp_path.iterdir()) == []
    async with receive_form(upload(), tmp_path, LimitSettings()) as form:
        assert form.path.stat().st_size == 4096


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="No such file or directory"):
        async with receive_form(upload(), tmp_path / "gone", LimitSettings()):
            pass
