"""One file → ``ExtractedText``: recognise, read, tidy, render, judge. Runs inside a guarded parser process."""

from __future__ import annotations

from dataclasses import replace

from service.config import ExtractSettings
from service.errors import Corrupt, EmptyFile, ExtractionLimit, NoText, Unsupported
from service.extract.containers.archive import read_archive
from service.extract.containers.mail import read_mail
from service.extract.containers.parts import Budget
from service.extract.guard.messages import Task
from service.extract.pdf.ofd import read_ofd
from service.extract.quality.gate import judge
from service.extract.quality.plausible import LIKELY_TEXT, plausibility
from service.extract.read.media_type import Family, recognise
from service.extract.read.reading import Reading
from service.extract.read.text_files import read_markdown, read_table, read_text
from service.extract.read.tika_files import read_with_tika
from service.extract.tika.answer import Ask, Tika
from service.extract.web.page import read_web_page
from service.types import ExtractedText, ExtractRequest

VERSION = "1"
"""Goes up whenever the same file would give another text; stored with every document."""


class DocumentReader:
    """Reads files one after the other, with one Tika."""

    def __init__(self, settings: ExtractSettings, tika: Tika) -> None:
        self._settings = settings
        self._tika = tika

    def read(self, task: Task) -> ExtractedText:
        """Text of one file. ``NoText`` has the detail ``ocr`` when reading it again by OCR can help.

        Raises:
            EmptyFile: the file has no bytes.
            ExtractionFailed: a leaf that says why it cannot be read.
            ExtractorUnavailable: Tika is out of reach.
        """
        request, settings = task.request, self._settings
        if request.reflow is not None:
            settings = settings.model_copy(update={"reflow": request.reflow})
        extracted = _Job(settings, self._tika, task).read(request, 0).finish()
        if len(extracted.text) > settings.max_characters:
            raise ExtractionLimit(
                f"the text has {len(extracted.text)} characters, the limit is {settings.max_characters}",
                limit=settings.max_characters,
            )
        extracted = judge(extracted)
        return replace(
            extracted, extractor=f"fuzi+{self._tika.name}", extractor_version=f"{VERSION}+{self._tika.version}"
        )


class _Job:
    """Reads one uploaded file and everything nested in it."""

    def __init__(self, settings: ExtractSettings, tika: Tika, task: Task) -> None:
        self._settings = settings
        self._tika = tika
        self._task = task
        self._budget = Budget(settings.max_depth)

    def read(self, request: ExtractRequest, depth: int) -> Reading:
        """What the reader of the file's family found; ``depth`` is 0 for the uploaded file."""
        if request.path.stat().st_size == 0:
            raise EmptyFile("the file is empty (0 bytes)")
        recognised = recognise(request.path, request.file_name, request.declared_type)
        media_type = recognised.media_type
        match recognised.family:
            case Family.TEXT:
                reading = read_text(request.path.read_bytes(), media_type)
                if recognised.contradicts_name and self._settings.adapter == "server":
                    reading = self._second_opinion(request, reading)
            case Family.MARKDOWN:
                reading = read_markdown(request.path.read_bytes(), media_type)
            case Family.TABLE:
                reading = read_table(request.path.read_bytes(), media_type)
            case Family.HTML:
                reading = read_web_page(request.path.read_bytes(), media_type)
            case Family.MAIL:
                reading = read_mail(request, media_type, self.read, self._budget, depth)
            case Family.ARCHIVE:
                reading = read_archive(request, media_type, self.read, self._budget, depth)
            case Family.OFD:
                reading = read_ofd(request, self._settings)
            case Family.UNSUPPORTED:
                raise Unsupported(f"no text can be read from {media_type}", media_type=media_type)
            case Family.TIKA:
                reading = self._read_with_tika(request)
        return reading

    def _read_with_tika(self, request: ExtractRequest) -> Reading:
        ask = Ask(request.file_name, self._task.limit_seconds, self._task.ocr)
        return read_with_tika(request, self._tika, ask, self._settings)

    def _second_opinion(self, request: ExtractRequest, own: Reading) -> Reading:
        """What a Tika server makes of a text with the name of another format, when it is more than that text.

        A server may know formats that are text inside; native Tika calls such a file damaged.
        """
        try:
            other = self._read_with_tika(request)
        except (Corrupt, NoText, Unsupported):
            return own
        text = "".join("".join(block.text for block in other.as_blocks()).split())
        is_same = text in "".join(own.text.split())
        return own if is_same or plausibility(text) < LIKELY_TEXT else other
