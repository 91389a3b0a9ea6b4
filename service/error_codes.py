"""From a code back to its error: a job that failed, or a server, only names it."""

from __future__ import annotations

from typing import Any

from service.errors import FuziError


def error_of(code: str, message: str, **details: Any) -> FuziError:
    """Return the error that has this code; an unknown code gives the root of the tree."""
    waiting = [FuziError]
    while waiting:
        kind = waiting.pop()
        if kind.code == code:
            return kind(message, **details)
        waiting += kind.__subclasses__()
    return FuziError(message, **{**details, "code": code})
