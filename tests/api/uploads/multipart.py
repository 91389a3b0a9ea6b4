"""Multipart bodies written by hand, right and wrong ones."""

from __future__ import annotations

import httpx

from tests.api.conftest import Api

BOUNDARY = "----fuzi"


def part(disposition: str | bytes, content: bytes = b"x\xe3\x80\x82", *headers: str) -> bytes:
    """One part of a body, its headers written as given."""
    name = disposition.encode() if isinstance(disposition, str) else disposition
    lines = [b"Content-Disposition: form-data; " + name, *(header.encode() for header in headers)]
    return b"--" + BOUNDARY.encode() + b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + content + b"\r\n"


async def send(api: Api, *parts: bytes, end: bytes = b"------fuzi--\r\n") -> httpx.Response:
    return await api.http.post(
        "/v1/documents?wait=true",
        content=b"".join(parts) + end,
        headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"},
    )
