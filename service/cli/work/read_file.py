"""Read one file, or standard input, into text without a database."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from service.cli.work.files import spell
from service.errors import EmptyFile, ExtractionFailed

if TYPE_CHECKING:
    from service.cli.output import Output
    from service.config import Settings
    from service.types import ExtractedText, JsonObject


class StdinFormat(StrEnum):
    """What standard input holds."""

    MD = "md"
    TXT = "txt"


def read_file(
    output: Output, settings: Settings, file: Path, stdin_format: StdinFormat, empty: JsonObject
) -> ExtractedText:
    """Extract ``file`` (``-`` is standard input) in this process's own extractor.

    Args:
        empty: what the command prints with --json for a file that cannot be read, beside status, code and message.

    Raises:
        ExtractionFailed, EmptyFile: it cannot be read; see the code.
        typer.Exit: the same, when it was printed as JSON.
    """
    try:
        return _extract(settings, file, stdin_format)
    except (ExtractionFailed, EmptyFile) as error:
        if not output.as_json:
            raise
        output.result({"status": "failed", "code": error.code, "message": error.message, **empty})
        raise typer.Exit(1) from error


def _extract(settings: Settings, file: Path, stdin_format: StdinFormat) -> ExtractedText:
    import asyncio

    from service.extract import create_extractor
    from service.types import ExtractRequest

    async def extract(path: Path) -> ExtractedText:
        extractor = create_extractor(settings.extract)
        try:
            return await extractor.extract(ExtractRequest(path, spell(path.name)))
        finally:
            await extractor.close()

    with _on_disk(file, stdin_format) as path:
        return asyncio.run(extract(path))


@contextmanager
def _on_disk(file: Path, stdin_format: StdinFormat) -> Iterator[Path]:
    if str(file) != "-":
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="fuzi-") as folder:
        path = Path(folder) / f"stdin.{stdin_format}"
        path.write_bytes(sys.stdin.buffer.read())
        yield path
