"""Files that Tika reads: Office, PDF, e-books and the rest."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from service.config import ExtractSettings
from service.errors import Corrupt, Encrypted, NoText, Unsupported
from service.extract.ooxml.package import annotated_copy
from service.extract.pdf.pages import Mending, draft_of, take_pages
from service.extract.read.reading import Reading
from service.extract.structure.draft import Draft
from service.extract.structure.markup import body_of
from service.extract.structure.xhtml import Profile, read_xhtml
from service.extract.tidy.clean import clean
from service.extract.tika.answer import Ask, Tika, TikaAnswer
from service.types import ExtractRequest, Notice

_UNSAFE = re.compile(r"[^\w. -]")
_LONGEST_NAME = 80
"""Characters; a Han character takes three bytes of the 255 that file systems allow."""
_SOUND_AND_FILM = ("audio/", "video/")
_UNMAPPED_SHARE = 0.05
_PDF = "application/pdf"
_PDF_TAIL = 4096
"""Bytes that may follow the end mark of a PDF: line ends, and what mail programs append."""
_SHEETS = frozenset(
    {
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.ms-excel.sheet.macroenabled.12",
        "application/vnd.ms-excel.sheet.binary.macroenabled.12",
        "application/vnd.oasis.opendocument.spreadsheet",
    }
)
_SLIDES = frozenset(
    {
        "application/vnd.ms-powerpoint",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        "application/vnd.oasis.opendocument.presentation",
    }
)
_PACKAGES = (
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.oasis.opendocument.",
    "application/epub+zip",
)
_KEPT_METADATA = {
    "dc:creator": "author",
    "dc:subject": "subject",
    "dc:description": "description",
    "dc:language": "language",
    "dc:publisher": "publisher",
    "meta:keyword": "keywords",
    "dcterms:created": "created",
    "dcterms:modified": "modified",
    "xmpTPg:NPages": "page_count",
    "extended-properties:Application": "application",
    "pdf:producer": "producer",
}
_NO_TITLE = frozenset({"untitled", "无标题", "powerpoint presentation", "powerpoint 演示文稿", "slide 1"})


def read_with_tika(request: ExtractRequest, tika: Tika, ask: Ask, settings: ExtractSettings) -> Reading:
    """Ask Tika, and turn its XHTML into blocks.

    Raises:
        Corrupt, Encrypted, NoText, Unsupported: Tika answered, but with nothing.
    """
    with TemporaryDirectory(prefix="fuzi-") as folder:
        copy = Path(folder) / _safe_name(request.file_name)
        is_annotated = annotated_copy(request.path, copy)
        if not is_annotated:
            copy.symlink_to(request.path.absolute())
        answer = tika.parse(copy, ask)
    _refuse(answer)
    reading = _reading(answer, settings)
    if _is_cut_off(request.path, answer.media_type):
        if reading.draft is None or not reading.draft.blocks:
            raise Corrupt("the file is damaged or cut off")
        reading.notices.append(Notice("cut_off", "the file is damaged or cut off; parts of its text may be missing"))
    if reading.draft is None or not reading.draft.blocks:
        raise _nothing_read(answer, can_try_ocr=not ask.ocr and tika.can_read_images)
    if ask.ocr:
        reading.notices.append(Notice("ocr", "the text was read from page images by OCR and may hold errors"))
    return reading


def _safe_name(file_name: str) -> str:
    """A name for a path of our own; Tika looks at its ending where the content does not tell the type."""
    name = PurePosixPath(file_name.replace("\\", "/")).name
    return _UNSAFE.sub("_", name)[-_LONGEST_NAME:].lstrip(".") or "document"


def _is_cut_off(path: Path, media_type: str) -> bool:
    """A file without its end, where its directory stands: Tika reads what is before the cut, and says nothing."""
    with path.open("rb") as file:
        if media_type == _PDF:
            file.seek(max(0, path.stat().st_size - _PDF_TAIL))
            return b"%%EOF" not in file.read()
        return media_type.startswith(_PACKAGES) and file.read(2) == b"PK" and not zipfile.is_zipfile(path)


def _refuse(answer: TikaAnswer) -> None:
    is_locked = answer.media_type == "application/x-tika-ooxml-protected" or answer.first("pdf:encrypted") == "true"
    is_empty = len(body_of(answer.root)) == 0
    if is_empty and (is_locked or "encrypt" in answer.complaints.lower()):
        raise Encrypted("the file is encrypted and needs a password")
    if answer.media_type.startswith(_SOUND_AND_FILM):
        raise Unsupported(f"no text can be read from {answer.media_type}", media_type=answer.media_type)


def _reading(answer: TikaAnswer, settings: ExtractSettings) -> Reading:
    root = answer.root
    profile = _profile(answer.media_type, settings)
    draft = _paged_draft(root, profile, settings) if _can_be_scan(answer) else read_xhtml(root, profile)
    notices = []
    if draft.omitted_depth:
        message = f"{draft.omitted_depth} embedded documents below level {settings.max_depth} were left out"
        notices.append(Notice("nesting_limit", message))
    notices.extend(_unmapped(answer))
    if answer.complaints:
        notices.append(Notice("parser_warning", clean(answer.complaints)[:300]))
    return Reading(
        answer.media_type,
        draft=draft,
        title=_title(answer),
        has_title_heading=answer.media_type not in _SHEETS,
        metadata=_metadata(answer),
        notices=notices,
    )


def _unmapped(answer: TikaAnswer) -> Iterable[Notice]:
    """Pages of a PDF on which the fonts hide what many glyphs stand for."""
    counts = answer.metadata.get("pdf:unmappedUnicodeCharsPerPage", ())
    totals = answer.metadata.get("pdf:charsPerPage", ())
    for number, (count, total) in enumerate(zip(counts, totals, strict=False), start=1):
        if count.isdigit() and total.isdigit() and int(count) > _UNMAPPED_SHARE * (int(count) + int(total)):
            yield Notice("unmapped_glyphs", f"{count} glyphs of page {number} have no known character", number)


def _paged_draft(root: Any, profile: Profile, settings: ExtractSettings) -> Draft:
    draft = draft_of(take_pages(body_of(root)), Mending.of(settings))
    rest = read_xhtml(root, profile)
    draft.blocks.extend(rest.blocks)
    draft.omitted_depth = rest.omitted_depth
    return draft


def _profile(media_type: str, settings: ExtractSettings) -> Profile:
    if media_type in _SHEETS:
        return Profile(page_classes=frozenset({"page", "sheet"}), label_from_heading=True, max_depth=settings.max_depth)
    if media_type in _SLIDES:
        return Profile(
            page_classes=frozenset({"slide", "slide-content"}), heading_from_text=True, max_depth=settings.max_depth
        )
    return Profile(
        keep_line_ends=media_type != "application/epub+zip", heading_from_bold=True, max_depth=settings.max_depth
    )


def _can_be_scan(answer: TikaAnswer) -> bool:
    return answer.media_type == _PDF or answer.media_type.startswith("image/")


def _nothing_read(answer: TikaAnswer, *, can_try_ocr: bool) -> NoText | Unsupported:
    media_type = answer.media_type
    is_unknown = media_type in {"application/octet-stream", "application/x-executable"}
    has_parser = "EmptyParser" not in " ".join(answer.metadata.get("X-TIKA:Parsed-By", ()))
    if (is_unknown or not has_parser) and not media_type.startswith("image/"):
        return Unsupported(f"no text can be read from {media_type}", media_type=media_type)
    if _can_be_scan(answer):
        message = "the file has no text layer (a scan or an image); reading it needs OCR by Tesseract"
        return NoText(message, media_type=media_type, ocr=can_try_ocr)
    return NoText("nothing readable was found in the file", media_type=media_type)


def _title(answer: TikaAnswer) -> str | None:
    title = clean(answer.first("dc:title") or "").strip()
    return None if title.lower() in _NO_TITLE else title or None


def _metadata(answer: TikaAnswer) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, name in _KEPT_METADATA.items():
        values = list(dict.fromkeys(clean(value).strip() for value in answer.metadata.get(key, ()) if value.strip()))
        if values:
            found[name] = values[0] if len(values) == 1 else values
    if str(found.get("page_count", "")).isdigit():
        found["page_count"] = int(found["page_count"])
    return found
