"""The folder of results, ``FUZI_HOME/evaluations``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from service.errors import InvalidInput, NotFound
from service.types import JsonObject

FORMAT = 1
_UNSAFE = re.compile(r"[^\w.\-]+")


def keep(home: Path, result: JsonObject) -> Path:
    """Write a result and return its file, ``<time>-<name>.json``; it appears when it is whole."""
    folder = home / "evaluations"
    folder.mkdir(parents=True, exist_ok=True)
    moment = re.sub(r"[^\dT]", "", str(result["created_at"])[:19])
    stem = f"{moment}-{_UNSAFE.sub('_', str(result['name'])) or 'evaluation'}"
    part = folder / f"{stem}.{os.getpid()}.part"
    part.write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8", errors="backslashreplace")
    number = 1
    while True:
        file = folder / f"{stem}{'' if number == 1 else f'-{number}'}.json"
        try:
            os.link(part, file)  # fails when another run took the name, as no rename would
        except FileExistsError:
            number += 1
            continue
        part.unlink()
        return file


def kept(home: Path) -> Iterator[Path]:
    """Files of the results, oldest first."""
    yield from sorted((home / "evaluations").glob("*.json"), key=lambda file: file.stem)


def find(home: Path, name: str) -> Path:
    """The result that a name means: a file, ``latest``, or the newest whose name contains it.

    Raises:
        NotFound: there is none.
    """
    if Path(name).is_file():
        return Path(name)
    files = list(kept(home))
    found = [file for file in files if name == "latest" or name in file.stem]
    exact = [file for file in found if file.stem == name]
    if not found:
        raise NotFound(f"there is no result {name} in {home / 'evaluations'}; `fuzi evaluate --list` shows what is")
    return (exact or found)[-1]


def read_result(file: Path) -> dict[str, Any]:
    """Read a result.

    Raises:
        InvalidInput: the file is no result of an evaluation, or one of another format.
    """
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read as a result: {error}") from error
    if not isinstance(result, dict) or not {"format", "stages", "questions"} <= result.keys():
        raise InvalidInput(f"{file} is no result of `fuzi evaluate`")
    if result["format"] != FORMAT:
        raise InvalidInput(f"{file} has format {result['format']}, this version reads {FORMAT}: evaluate again")
    return result
