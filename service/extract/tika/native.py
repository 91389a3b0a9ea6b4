"""Tika in process, by ``iscc_tika``. Only ever used inside a guarded parser process."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from service.config import ExtractSettings
from service.errors import Corrupt, ExtractionCrashed, ExtractionLimit, ExtractorUnavailable
from service.extract.structure.markup import parse_xhtml
from service.extract.tika.answer import Ask, TikaAnswer
from service.extract.tika.complaints import failure_of

MARKUP_FACTOR = 4
"""XHTML of a sheet of short cells is three to four times as long as its text."""
_LONGEST_STRING = 2**31 - 1


class NativeTika:
    """Apache Tika compiled to native code, in this process. A call costs 60 ms before the first byte is read."""

    name = "tika-native"

    def __init__(self, settings: ExtractSettings) -> None:
        self._longest = min(settings.max_characters * MARKUP_FACTOR + 1_000_000, _LONGEST_STRING)
        self._languages = settings.ocr_languages

    @property
    def version(self) -> str:
        """Version of the wheel."""
        return version("iscc-tika")

    @property
    def can_read_images(self) -> bool:
        """True when the ``tesseract`` program is installed."""
        return shutil.which("tesseract") is not None

    def parse(self, path: Path, ask: Ask) -> TikaAnswer:
        """See :class:`service.extract.tika.answer.Tika`."""
        try:
            xhtml, metadata = self._extractor(ask).extract_file_to_string(str(path))
        except TypeError as error:  # iscc_tika raises every error of the Java side as a TypeError
            raise _failure(str(error)) from error
        if len(xhtml) >= self._longest:
            raise ExtractionLimit(f"the file holds more text than the limit of {self._longest} characters of XHTML")
        return TikaAnswer(parse_xhtml(xhtml), metadata)

    def _extractor(self, ask: Ask) -> Any:
        try:
            import iscc_tika  # noqa: PLC0415  the slim installation has no native Tika
        except ImportError as error:
            raise ExtractorUnavailable("native Tika is not installed: pip install 'fuzi[embedded]'") from error
        extractor = iscc_tika.Extractor().set_xml_output(True).set_extract_string_max_length(self._longest)
        office = iscc_tika.OfficeParserConfig().set_include_slide_master_content(False)
        extractor = extractor.set_office_config(office.set_concatenate_phonetic_runs(False))
        if ask.ocr:
            pages = iscc_tika.PdfParserConfig().set_ocr_strategy(iscc_tika.PdfOcrStrategy.OCR_ONLY)
            tesseract = iscc_tika.TesseractOcrConfig().set_skip_ocr(False).set_language(self._languages)
            tesseract = tesseract.set_timeout_seconds(max(1, int(ask.limit_seconds)))
            extractor = extractor.set_pdf_config(pages).set_ocr_config(tesseract)
        return extractor


def _failure(message: str) -> Exception:
    """``JniError`` is what is left of a Java error that is no exception, in practice of OutOfMemoryError."""
    if "jnierror" in message.lower() or "outofmemory" in message.lower():
        return MemoryError(message)
    if "parse error" in message.lower():
        return failure_of(message, otherwise=Corrupt("the file is damaged or cut off", reason=message[:300]))
    return ExtractionCrashed("the parser failed on this file", reason=message[:300])
