"""Read one file, or standard input, into text without a database."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from service.cli.work.files import spell

if TYPE_CHECKING:
    from service.config import Settings
    from service.types import ExtractedText


class StdinFormat(StrEnum):
    """What standard input holds."""

    MD = "md"
    TXT = "txt"


def read_file(settings: Settings, file: Path, stdin_format: StdinFormat) -> ExtractedText:
    """Extract ``file`` (``-`` is standard input) in this process's own extractor.

    Raises:
        ExtractionFailed, EmptyFile: it cannot be read; see the code.
    """
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
