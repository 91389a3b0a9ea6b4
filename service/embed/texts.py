"""Text as a model can take it, and failures that say which text they are about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.errors import FuziError, InvalidInput

_SURROGATE = re.compile("[\ud800-\udfff]")


def sendable(text: str) -> str:
    """``text`` without NUL and with unpaired surrogates replaced by U+FFFD: neither survives UTF-8 or a C string.

    Raises:
        InvalidInput: nothing but white space is left. A blank text has no meaning to embed, and providers answer it
            with an error, a zero vector or a vector that is close to everything.
    """
    clean = _SURROGATE.sub("\ufffd", text.replace("\x00", ""))
    if not clean.strip():
        raise InvalidInput("a blank text cannot be embedded")
    return clean


def sendable_all(texts: Sequence[str]) -> list[str]:
    """``sendable`` for each text, in order; a failure says which text is blank."""
    clean = []
    for position, text in enumerate(texts):
        try:
            clean.append(sendable(text))
        except InvalidInput as failure:
            raise placed(failure, position, len(texts)) from failure
    return clean


def placed[Failure: FuziError](failure: Failure, position: int, count: int) -> Failure:
    """The same failure, said of the text at ``position`` (from 0) of ``count``; a place named before is replaced.

    ``details`` has ``position`` and, without the place, ``reason``.
    """
    reason = failure.details.get("reason", failure.message)
    details = {**failure.details, "position": position, "reason": reason}
    return type(failure)(f"text {position + 1} of {count}: {reason}", **details)
