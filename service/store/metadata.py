"""Metadata: what PostgreSQL's jsonb can hold, checked before anything is written."""

from __future__ import annotations

import json
import math
from typing import Any

from service.config import LimitSettings
from service.errors import InvalidMetadata, TooLarge


def parse_metadata(text: str, limits: LimitSettings) -> dict[str, Any]:
    """Parse a metadata object given as JSON text.

    Raises:
        InvalidMetadata: broken JSON, no object, NaN or infinite numbers, too deep.
        TooLarge: more bytes than ``limits.max_metadata_bytes``.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.max_metadata_bytes:
        raise TooLarge(
            f"metadata is larger than {limits.max_metadata_bytes} bytes", limit_bytes=limits.max_metadata_bytes
        )
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidMetadata(f"metadata is not valid JSON: {error}") from error
    return clean_metadata(value, limits)


def clean_metadata(value: Any, limits: LimitSettings) -> dict[str, Any]:
    """Return a copy that jsonb can hold: NUL and lone surrogates taken out of strings.

    Raises:
        InvalidMetadata: no object, a number that is not finite, deeper than ``limits.max_metadata_depth``, or two keys
            that become one.
    """
    if not isinstance(value, dict):
        raise InvalidMetadata('metadata must be a JSON object such as {"department": "法务"}')
    cleaned = _clean(value, limits.max_metadata_depth)
    assert isinstance(cleaned, dict)  # noqa: S101 - _clean keeps the type
    return cleaned


def _clean(value: Any, depth: int) -> Any:
    if depth < 0:
        raise InvalidMetadata("metadata is nested too deeply")
    match value:
        case dict():
            cleaned = {_clean_text(str(key)): _clean(item, depth - 1) for key, item in value.items()}
            if len(cleaned) < len(value):
                raise InvalidMetadata("metadata has keys that differ only in characters that PostgreSQL cannot store")
            return cleaned
        case list() | tuple():
            return [_clean(item, depth - 1) for item in value]
        case str():
            return _clean_text(value)
        case bool() | None:
            return value
        case int():
            _refuse_huge(value)
            return value
        case float():
            if not math.isfinite(value):
                raise InvalidMetadata("metadata holds a number that is not finite or beyond double precision")
            return value
        case _:
            raise InvalidMetadata(f"metadata holds a {type(value).__name__}, which JSON does not know")


def _clean_text(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def _refuse_huge(value: int) -> None:
    try:
        float(value)
    except OverflowError as error:
        raise InvalidMetadata("metadata holds a number beyond double precision") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
