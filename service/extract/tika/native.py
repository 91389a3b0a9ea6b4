"""Tika in process, by ``iscc_tika``. Only ever used inside a guarded parser process."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from service.config import ExtractSettings
from service.errors import Corrupt, ExtractionCrashed, ExtractionLimit, ExtractorUnavailable
from service.extract.tika.answer import TikaAnswer

_MARKUP_FACTOR = 4
"""XHTML of a sheet of short cells is three to four times as long as its text."""
_LONGEST_STRING = 2**31 - 1


class NativeTika:
    """Apache Tika compiled to native code, in this process. A call costs 60 ms before the first byte is read."""

    name = "tika-native"

    def __init__(self, settings: ExtractSettings) -> None:
        self._longest = min(settings.max_characters * _MARKUP_FACTOR + 1_000_000, _LONGEST_STRING)
        self._timeout_seconds = settings.timeout_seconds
        self._languages = settings.ocr_languages

    @property
    def version(self) -> str:
        """Version of the wheel."""
        return version("iscc-tika")

    def parse(self, path: Path, file_name: str, *, ocr: bool = False) -> TikaAnswer:
        """XHTML and metadata of one file. ``file_name`` is not used: the path's own name is what Tika sees."""
        try:
            xhtml, metadata = self._extractor(ocr=ocr).extract_file_to_string(str(path))
        except TypeError as error:  # iscc_tika raises every error of the Java side as a TypeError
            raise _failure(str(error)) from error
        if len(xhtml) >= self._longest:
            raise ExtractionLimit(f"the file holds more text than the limit of {self._longest} characters of XHTML")
        return TikaAnswer(xhtml, metadata)

    def _extractor(self, *, ocr: bool) -> Any:
        try:
            import iscc_tika  # noqa: PLC0415  the slim installation has no native Tika
        except ImportError as error:
            raise ExtractorUnavailable("native Tika is not installed: pip install 'fuzi[embedded]'") from error
        extractor = iscc_tika.Extractor().set_xml_output(True).set_extract_string_max_length(self._longest)
        office = iscc_tika.OfficeParserConfig().set_include_slide_master_content(False)
        extractor = extractor.set_office_config(office.set_concatenate_phonetic_runs(False))
        if ocr:
            pages = iscc_tika.PdfParserConfig().set_ocr_strategy(iscc_tika.PdfOcrStrategy.OCR_ONLY)
            tesseract = iscc_tika.TesseractOcrConfig().set_skip_ocr(False).set_language(self._languages)
            tesseract = tesseract.set_timeout_seconds(max(1, int(self._timeout_seconds)))
            extractor = extractor.set_pdf_config(pages).set_ocr_config(tesseract)
        return extractor


def is_tesseract_there() -> bool:
    """True when the ``tesseract`` program can be found."""
    return shutil.which("tesseract") is not None


def _failure(message: str) -> Exception:
    lowered = message.lower()
    if "jnierror" in lowered or "outofmemory" in lowered:
        return MemoryError(message)
    if "zip bomb" in lowered:
        return ExtractionLimit("the file unpacks to far more than its size (a decompression bomb)", reason=message)
    if "unexpected runtimeexception" in lowered and "pkg.packageparser" in lowered:
        return ExtractionLimit("the archives in this file are nested too deep", reason=message)
    if "parse error" in lowered:
        return Corrupt("the file is damaged or cut off", reason=message[:300])
    return ExtractionCrashed("the parser failed on this file", reason=message[:300])
