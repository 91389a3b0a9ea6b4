"""Text files as they come from editors and spreadsheets, and complaints about their lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.errors import InvalidInput

_MOST_COMPLAINTS = 10
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(slots=True)
class Complaints:
    """What is wrong with the lines of one file; told all at once, since they are mended all at once."""

    file: Path
    _told: list[str] = field(default_factory=list)

    def add(self, line: int, message: str) -> None:
        """Note one; lines count from 1."""
        self._told.append(f"line {line}: {message}")

    def raise_any(self) -> None:
        """Refuse the file when something is wrong with it.

        Raises:
            InvalidInput: the message names the lines.
        """
        if self._told:
            rest = len(self._told) - _MOST_COMPLAINTS
            more = f"; and {rest} more" if rest > 0 else ""
            raise InvalidInput(f"{self.file}: {'; '.join(self._told[:_MOST_COMPLAINTS])}{more}", count=len(self._told))


def read_text(file: Path) -> str:
    """Text in UTF-8 or UTF-16 with or without a byte order mark, else in GB18030, as a Chinese Excel saves CSV.

    Raises:
        InvalidInput: there is no such file, or it is in none of these.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if utf_16 else ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InvalidInput(f"{file} is no text in UTF-8, UTF-16 or GB18030")


def json_lines(file: Path, complaints: Complaints) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of a JSONL file with their line numbers; blank lines are passed over."""
    # not splitlines(): a line separator may stand inside a JSON string
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            complaints.add(number, f"this is no JSON ({error})")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            complaints.add(number, "this is no JSON object")


def text_field(record: dict[str, Any], name: str) -> str:
    """A text field, stripped; empty when it is missing.

    Raises:
        ValueError: it is something else than a text or a number, or no database could keep it.
    """
    value = record.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} must be a text")  # noqa: TRY004 - one kind of complaint about a line
    text = str(value).strip()
    if _NOT_STORABLE.search(text):
        raise ValueError(f"{name} must not contain NUL or half of a surrogate pair")
    return text


def text_list(record: dict[str, Any], name: str) -> tuple[str, ...]:
    """A field that is a text or a list of texts; blank ones are left out.

    Raises:
        ValueError: it is something else.
    """
    value = record.get(name)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in values):
        raise ValueError(f"{name} must be a text or a list of texts")
    return tuple(item.strip() for item in values if item.strip())
