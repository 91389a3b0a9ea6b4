"""Tika in process, by ``iscc_tika``. Only ever used inside a guarded parser process."""

from __future__ import annotations

import shutil
import sys
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
_EXHAUSTED = 0.6
"""Share of the memory limit from which a Java error counts as running out of memory (measured: 0.8 and more)."""
_LONGEST_STRING = 2**31 - 1


class NativeTika:
    """Apache Tika compiled to native code, in this process. A call costs 60 ms before the first byte is read."""

    name = "tika-native"

    def __init__(self, settings: ExtractSettings) -> None:
        self._longest = min(settings.max_characters * MARKUP_FACTOR + 1_000_000, _LONGEST_STRING)
        self._memory_mb = settings.memory_mb
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
            raise _failure(str(error), self._memory_mb) from error
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


def _failure(message: str, memory_mb: int) -> Exception:
    """``JniError`` is what is left of a Java error that is no exception: out of memory when memory is used up,
    else a class that a damaged file drove into a corner (``ExceptionInInitializerError``)."""
    reason = message[:300]
    if "jnierror" in message.lower() or "outofmemory" in message.lower():
        if peak_memory_mb() >= _EXHAUSTED * memory_mb:
            return MemoryError(message)
        return Corrupt("the file is damaged or cut off", reason=reason)
    if "parse error" in message.lower() or "ioerror" in message.lower():
        return failure_of(message, otherwise=Corrupt("the file is damaged or cut off", reason=reason))
    return ExtractionCrashed("the parser failed on this file", reason=reason)


def peak_memory_mb() -> int:
    """Largest resident memory of this process so far; 0 where the platform does not tell."""
    try:
        import resource  # noqa: PLC0415  not on every platform
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> 20 if sys.platform == "darwin" else peak >> 10
