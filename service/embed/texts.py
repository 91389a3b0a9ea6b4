"""Text as a model can take it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.errors import InvalidInput

_SURROGATE = re.compile("[\ud800-\udfff]")


def sendable(text: str, position: int | None = None, count: int = 1) -> str:
    """``text`` without NUL and with unpaired surrogates replaced by U+FFFD: neither survives UTF-8 or a C string.

    Args:
        position: index of the text among those given, from 0; ``None`` for a query.
        count: how many texts were given.

    Raises:
        InvalidInput: nothing but white space is left. A blank text has no meaning to embed, and providers answer it
            with an error, a zero vector or a vector that is close to everything.
    """
    clean = _SURROGATE.sub("\ufffd", text.replace("\x00", ""))
    if not clean.strip():
        if position is None:
            raise InvalidInput("the query is blank")
        raise InvalidInput(f"text {position + 1} of {count} is blank", position=position)
    return clean


def sendable_all(texts: Sequence[str]) -> list[str]:
    """``sendable`` for each text, in order."""
    return [sendable(text, position, len(texts)) for position, text in enumerate(texts)]
