"""Extracted text as bytes, to be kept with a job until its version is stored."""

from __future__ import annotations

import zlib

from pydantic import TypeAdapter, ValidationError

from service.types import ExtractedText

_ADAPTER = TypeAdapter(tuple[str, ExtractedText])
# Fast: the bytes live for minutes, and JSON shrinks to a third anyway.
_LEVEL = 1


def pack(extracted: ExtractedText, reading: str) -> bytes:
    """Return compressed JSON; ``reading`` says how the file was read."""
    return zlib.compress(_ADAPTER.dump_json((reading, extracted)), _LEVEL)


def unpack(packed: bytes) -> tuple[str, ExtractedText] | None:
    """Return how it was read, and what; None when it was packed by a version of this code with other fields."""
    try:
        return _ADAPTER.validate_json(zlib.decompress(packed))
    except (ValidationError, zlib.error):
        return None
