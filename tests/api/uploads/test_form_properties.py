"""Invariants of the streamed form: where the network cuts it does not matter, and any bytes are read or refused."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import httpx
from hypothesis import assume, given
from hypothesis import strategies as st
from starlette.requests import Request

from service.api.edge.dispositions import attachment, parse_part_name
from service.api.edge.upload_form import receive_form
from service.config import LimitSettings
from service.errors import InvalidRequest, TooLarge

LIMITS = LimitSettings(max_upload_mb=1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40)


async def received(content_type: str, pieces: list[bytes]) -> tuple[bytes, str, Mapping[str, str]]:
    """File, name and fields of a body that arrives in these pieces."""
    waiting = iter(pieces)

    async def receive() -> dict[str, object]:
        piece = next(waiting, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    with tempfile.TemporaryDirectory() as folder:
        request = Request({"type": "http", "headers": [(b"content-type", content_type.encode())]}, receive)
        try:
            async with receive_form(request, Path(folder), LIMITS) as form:
                return form.path.read_bytes(), form.given_name, form.fields
        finally:
            assert list(Path(folder).iterdir()) == []


def cut(body: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(body) + 1) for place in places} | {0, len(body)})
    return [body[start:end] for start, end in pairwise(ends)]


@given(
    content=st.binary(max_size=300),
    title=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    data=st.data(),
)
async def test_where_the_network_cuts_a_body_does_not_matter(content: bytes, title: str, data: st.DataObject) -> None:
    # bytes that look like boundaries are the traps here
    content = content.replace(b"\x01", b"\r\n--").replace(b"\x02", b"\r\n--bound--")
    sent = httpx.Request(
        "POST",
        "http://fuzi.test",
        files={"file": ("甲.txt", content)},
        data={"title": title},
        headers={"Content-Type": "multipart/form-data; boundary=bound-ary"},
    )
    body = sent.read()
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=20))
    assert await received(sent.headers["Content-Type"], cut(body, places)) == (content, "甲.txt", {"title": title})


@given(
    st.lists(
        st.sampled_from(
            [
                b"--b",
                b"--b--",
                b"\r\n",
                b"\n",
                b"Content-Disposition: form-data; ",
                b'name="file"',
                b'; filename="a"',
                b'name="title"',
                b":",
                b"x",
                b"\0",
                b"--",
                b"\xff",
            ]
        ),
        max_size=25,
    )
)
async def test_any_body_is_read_or_refused(pieces: list[bytes]) -> None:
    with suppress(InvalidRequest, TooLarge):
        await received("multipart/form-data; boundary=b", pieces)


@given(st.binary(max_size=80) | st.text("=;\"\\'*% \t\r\nfilenam", max_size=60).map(str.encode))
def test_any_header_is_read_or_refused(header: bytes) -> None:
    with suppress(InvalidRequest):
        parse_part_name(b"form-data; " + header)


@given(NAMES)
def test_every_name_survives_the_download_header(name: str) -> None:
    header = attachment(name)
    assert re.fullmatch(r"attachment; filename=\"[ !#$&-\[\]-~]*\"; filename\*=UTF-8''[\w.~%-]+", header, re.ASCII)
    assert unquote(header.rsplit("'", 1)[-1], errors="strict") == name


@given(NAMES)
def test_every_name_survives_the_upload(name: str) -> None:
    """As httpx and browsers write it; a name that holds their escapes, or a backslash, they cannot write unharmed."""
    assume(not re.search(r"%22|%0A|%0D|\\", name))
    sent = httpx.Request("POST", "http://fuzi.test", files={"file": (name, b"x")}).read()
    header = re.search(rb"Content-Disposition: (.*?)\r\n", sent, re.DOTALL)
    assert header is not None
    assert parse_part_name(header[1]).file_name == name
