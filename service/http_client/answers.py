"""What a provider says: errors under any status, and when to come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_GOOD_CODES = frozenset({"0", "200", "ok", "success", "true"})


@dataclass(frozen=True, slots=True)
class BodyError:
    """An error that a body tells of; ``status`` is the HTTP status it amounts to, ``None`` when it does not say."""

    message: str
    status: int | None = None


def body_error(body: Any) -> BodyError | None:
    """Recognises the error shapes of OpenAI-like, Ollama-like and DashScope-like providers under any status."""
    if not isinstance(body, Mapping):
        return None
    error = body.get("error")
    if isinstance(error, Mapping):
        message = error.get("message") or error.get("msg") or error.get("type") or "no message"
        return BodyError(str(message), _status_in(error.get("code")) or _status_in(error.get("status")))
    if error:
        return BodyError(str(error), _status_in(body.get("code")) or _status_in(body.get("status")))
    message = body.get("message") or body.get("detail")
    # Some providers put `"code": 0, "message": "success"` beside a good answer.
    told = [body[key] for key in ("code", "status") if str(body.get(key) or 0).lower() not in _GOOD_CODES]
    if message and (told or "detail" in body):
        return BodyError(str(message), next(filter(None, map(_status_in, told)), None))
    return None


def _status_in(value: Any) -> int | None:
    try:
        status = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return status if 400 <= status <= 599 else None


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """Seconds a ``Retry-After`` header asks for (a number, or an HTTP date), never negative; ``None`` if unreadable."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None
