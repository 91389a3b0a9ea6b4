"""Conditions and ranges of a download (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_RANGE = re.compile(r"bytes\s*=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


class Unsatisfiable(Exception):
    """A well-formed range lies wholly beyond the end."""


def is_known(headers: Mapping[str, str], etag: str) -> bool:
    """True when ``If-None-Match`` says that the caller has this content already; ``etag`` has its quotes."""
    given = headers.get("if-none-match", "")
    return given.strip() == "*" or etag in {tag.strip().removeprefix("W/") for tag in given.split(",")}


def asks_for_part(headers: Mapping[str, str], etag: str) -> bool:
    """True when a ``Range`` counts: without ``If-Range``, or when that names this content."""
    return "range" in headers and headers.get("if-range", etag).strip() == etag


def parse_range(value: str, size: int) -> tuple[int, int] | None:
    """Return the bytes ``[start, end)`` of a ``Range`` header, or None when the whole is to be sent.

    That is the answer to other units, several ranges, and what is no range; so the RFC wants or allows it.

    Args:
        size: bytes there are.

    Raises:
        Unsatisfiable: none of these bytes exists.
    """
    found = _RANGE.fullmatch(value.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        length = min(int(found[2]), size)
        if length == 0:
            raise Unsatisfiable
        return size - length, size
    first, last = int(found[1]), int(found[2]) if found[2] else size - 1
    if found[2] and last < first:
        return None
    if first >= size:
        raise Unsatisfiable
    return first, min(last + 1, size)
