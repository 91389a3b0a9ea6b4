"""One file → ``ExtractedText``: recognise, read, tidy, render, judge. Runs inside a guarded parser process."""

from __future__ import annotations

from dataclasses import replace

from service.config import ExtractSettings
from service.errors import EmptyFile, ExtractionLimit, Unsupported
from service.extract.read.media_type import Family, Recognised, recognise
from service.extract.read.reading import Reading
from service.extract.read.text_files import read_markdown, read_table, read_text
from service.extract.read.tika_files import read_with_tika
from service.extract.read.web_page import read_web_page
from service.extract.tidy.quality import judge
from service.extract.tika.answer import Tika
from service.types import ExtractedText, ExtractRequest

VERSION = "1"
"""Goes up whenever the same file would give another text; stored with every document."""


class DocumentReader:
    """Reads files one after the other, with one Tika."""

    def __init__(self, settings: ExtractSettings, tika: Tika) -> None:
        self._settings = settings
        self._tika = tika

    def read(self, request: ExtractRequest) -> ExtractedText:
        """Text of one file.

        Raises:
            EmptyFile: the file has no bytes.
            ExtractionFailed: a leaf that says why it cannot be read.
            ExtractorUnavailable: Tika is out of reach.
        """
        if request.path.stat().st_size == 0:
            raise EmptyFile("the file is empty (0 bytes)")
        recognised = recognise(request.path, request.file_name, request.declared_type)
        reading = self._reading(recognised, request)
        extracted = reading.finish(self._settings)
        if len(extracted.text) > self._settings.max_characters:
            raise ExtractionLimit(
                f"the text has {len(extracted.text)} characters, the limit is {self._settings.max_characters}",
                limit=self._settings.max_characters,
            )
        extracted = judge(extracted)
        return replace(
            extracted, extractor=f"fuzi+{self._tika.name}", extractor_version=f"{VERSION}+{self._tika.version}"
        )

    def _reading(self, recognised: Recognised, request: ExtractRequest) -> Reading:
        match recognised.family:
            case Family.TEXT:
                return read_text(request.path.read_bytes(), recognised.media_type)
            case Family.MARKDOWN:
                return read_markdown(request.path.read_bytes(), recognised.media_type)
            case Family.TABLE:
                return read_table(request.path.read_bytes(), recognised.media_type)
            case Family.HTML:
                return read_web_page(request.path.read_bytes(), recognised.media_type)
            case Family.UNSUPPORTED:
                raise Unsupported(f"no text can be read from {recognised.media_type}", media_type=recognised.media_type)
            case _:
                return read_with_tika(request, self._tika, self._settings)
