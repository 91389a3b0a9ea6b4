"""The room's door: files in, ``ExtractedText`` out, one failed file at a time."""

from __future__ import annotations

import asyncio
from typing import Protocol

from service.config import ExtractSettings
from service.errors import EmptyFile, Misconfigured, NoText
from service.extract.guard.messages import Task, result_of
from service.extract.guard.pool import ParserPool
from service.types import ExtractedText, ExtractRequest


class Extractor(Protocol):
    """Reads files."""

    async def extract(self, request: ExtractRequest) -> ExtractedText:
        """Text of one file.

        Raises:
            EmptyFile: the file has no bytes.
            ExtractionFailed: a leaf that says why this file cannot be read.
            ExtractorUnavailable: Tika is out of reach; the file may be fine.
        """

    async def close(self) -> None:
        """Let go of processes."""


class GuardedExtractor:
    """Reads files in parser processes, which time, memory, output and nesting limits guard."""

    def __init__(self, settings: ExtractSettings) -> None:
        self._settings = settings
        self._pool = ParserPool(settings)

    async def extract(self, request: ExtractRequest) -> ExtractedText:
        """See :class:`Extractor`."""
        size = await asyncio.to_thread(lambda: request.path.stat().st_size)
        if size == 0:
            raise EmptyFile("the file is empty (0 bytes)")
        try:
            return await self._read(request, ocr=False)
        except NoText as error:
            if not (self._settings.ocr and error.details.get("ocr")):
                raise
        return await self._read(request, ocr=True)

    async def _read(self, request: ExtractRequest, *, ocr: bool) -> ExtractedText:
        seconds = self._settings.ocr_timeout_seconds if ocr else self._settings.timeout_seconds
        return result_of(await self._pool.ask(Task(request, ocr, seconds)))

    async def close(self) -> None:
        """See :class:`Extractor`."""
        await self._pool.close()


def create_extractor(settings: ExtractSettings) -> Extractor:
    """Extractor for these settings; starts nothing yet.

    Raises:
        Misconfigured: the adapter ``server`` has no URL.
    """
    if settings.adapter == "server" and not settings.tika_url:
        raise Misconfigured("the extract adapter `server` needs FUZI_EXTRACT__TIKA_URL")
    return GuardedExtractor(settings)
