"""The root of the tree, and from a code back to its error."""

from __future__ import annotations

from typing import Any, ClassVar


class FuziError(Exception):
    """Root of all errors this service raises on purpose.

    ``code`` is stable; ``retryable``: the same call may succeed later; ``details``: JSON-ready facts, never secrets.
    """

    code: ClassVar[str] = "internal_error"
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message, self.details = message, details


def error_of(code: str, message: str, **details: Any) -> FuziError:
    """Return the error that has this code; an unknown code gives the root of the tree."""
    waiting = [FuziError]
    while waiting:
        kind = waiting.pop()
        if kind.code == code:
            return kind(message, **details)
        waiting += kind.__subclasses__()
    return FuziError(message, **{**details, "code": code})
