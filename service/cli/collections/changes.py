"""Settings as the command line writes them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from service.errors import InvalidInput

_PLAIN_WORD = re.compile(r"[a-z]+")


def parsed_changes(changes: Sequence[str]) -> dict[str, Any]:
    """Settings of ``KEY=JSON`` words; None where nothing stands after the sign, to take the setting away.

    A plain word such as ``sentence`` needs no quotes.

    Raises:
        typer.BadParameter: a word is not of this form, or names a key again.
    """
    found: dict[str, Any] = {}
    for change in changes:
        key, sign, value = change.partition("=")
        key = key.strip()
        if not key or not sign:
            raise typer.BadParameter(f"{change!r} is not KEY=VALUE")
        if key in found:
            raise typer.BadParameter(f"{key} is given twice")
        try:
            found[key] = _value(value.strip())
        except ValueError:
            raise typer.BadParameter(f"{key}: {value!r} is no JSON; for example 8, 0.5 or '[\"公司\"]'") from None
    return found


def _value(word: str) -> Any:
    if not word:
        return None
    return word if _PLAIN_WORD.fullmatch(word) and word not in {"true", "false", "null"} else json.loads(word)


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; ``-`` is standard input.

    Raises:
        InvalidInput: it holds something else, or is not UTF-8.
    """
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f'{file} holds no JSON object such as {{"top_n": 8}}')
    return value
