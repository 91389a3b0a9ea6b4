"""The tar format, cut down to what an archive may hold: regular files with plain names."""

from __future__ import annotations

import json
import re
import tarfile

from service.errors import InvalidArchive
from service.types import JsonObject

BLOCK = 512
END = bytes(2 * BLOCK)

FORMAT_MEMBER = "format.json"
MANIFEST_MEMBER = "manifest.json"
DIGEST_MEMBER = "manifest.sha256"

_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_NAME = re.compile(rf"{_SEGMENT}(/{_SEGMENT})*", re.ASCII)
_LONGEST_NAME = 100
"""Bytes that fit a header; longer names would need blocks of their own."""


def header(name: str, size: int) -> bytes:
    """The one header block of a member with this name and ``size`` in bytes.

    Raises:
        ValueError: the name is not made of plain segments, or too long.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise ValueError(f"{name!r} cannot be the name of a member")
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o600
    return info.tobuf(tarfile.GNU_FORMAT, "ascii", "strict")


def json_bytes(value: JsonObject) -> bytes:
    """JSON as members hold it."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def format_facts(kind: str, version: int) -> JsonObject:
    """Content of the first member; the manifest repeats it."""
    return {"format": kind, "format_version": version}


def padding(size: int) -> int:
    """Zero bytes between the end of a member's content and the next block."""
    return -size % BLOCK


def read_header(block: bytes, offset: int) -> tuple[str, int]:
    """Name and size in bytes of the member whose header is ``block``.

    Args:
        offset: where the block begins in the archive, for the message.

    Raises:
        InvalidArchive: it is not exactly the block that `header` makes.
    """
    try:
        info = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        if header(info.name, info.size) == block:
            return info.name, info.size
    except (tarfile.HeaderError, ValueError):
        pass
    raise InvalidArchive(
        f"the archive is cut, changed, or was not written by Fuzi: no valid header at byte {offset}", offset=offset
    )
