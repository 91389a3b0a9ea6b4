"""What a file is: by its content first, then by its name, then by what the sender declared."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path, PurePosixPath

from service.extract.quality.plausible import plausibility
from service.extract.read.decode import decode

_HEAD = 8192
_TEXT_PLAUSIBILITY = 0.5


class Family(Enum):
    """Which reader a file needs."""

    TEXT = auto()
    MARKDOWN = auto()
    TABLE = auto()
    HTML = auto()
    MAIL = auto()
    ARCHIVE = auto()
    OFD = auto()
    TIKA = auto()
    UNSUPPORTED = auto()


@dataclass(frozen=True, slots=True)
class Recognised:
    """Family and media type; the media type of the family ``TIKA`` is what Tika says in the end."""

    family: Family
    media_type: str
    contradicts_name: bool = False
    """The content is text, but the name is that of another format."""


_PROGRAMS = (
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (b"\xce\xfa\xed\xfe", "application/x-mach-binary"),
    (b"\x00asm", "application/wasm"),
    (b"dex\n", "application/x-dex"),
)
_TIKA_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-tika-msoffice"),
    (b"{\\rtf", "application/rtf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"BM", "image/bmp"),
)
_TEXT_NAMES = {
    ".txt": (Family.TEXT, "text/plain"),
    ".text": (Family.TEXT, "text/plain"),
    ".log": (Family.TEXT, "text/plain"),
    ".md": (Family.MARKDOWN, "text/markdown"),
    ".markdown": (Family.MARKDOWN, "text/markdown"),
    ".mdx": (Family.MARKDOWN, "text/markdown"),
    ".csv": (Family.TABLE, "text/csv"),
    ".tsv": (Family.TABLE, "text/tab-separated-values"),
    ".tab": (Family.TABLE, "text/tab-separated-values"),
    ".html": (Family.HTML, "text/html"),
    ".htm": (Family.HTML, "text/html"),
    ".xhtml": (Family.HTML, "application/xhtml+xml"),
    ".shtml": (Family.HTML, "text/html"),
    ".eml": (Family.MAIL, "message/rfc822"),
    ".json": (Family.TEXT, "application/json"),
    ".jsonl": (Family.TEXT, "application/x-ndjson"),
    ".yaml": (Family.TEXT, "application/yaml"),
    ".yml": (Family.TEXT, "application/yaml"),
    ".rst": (Family.TEXT, "text/x-rst"),
    ".py": (Family.TEXT, "text/x-python"),
    ".sql": (Family.TEXT, "application/sql"),
}
_PACKAGE_NAMES = frozenset(
    {".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".ppsx", ".odt", ".ods", ".odp", ".epub"}
)
"""Formats that are ZIP archives inside; a damaged one must not be unpacked as an archive of XML files."""
_OTHER_FORMATS = frozenset(
    {".pdf", ".doc", ".docx", ".docm", ".dot", ".dotx", ".wps", ".rtf", ".odt", ".xls", ".xlsx", ".xlsm", ".et", ".ods"}
    | {".ppt", ".pptx", ".pps", ".ppsx", ".dps", ".odp", ".epub", ".msg", ".zip", ".7z", ".rar", ".tar", ".gz", ".ofd"}
)
_DECLARED = {media_type: (family, media_type) for family, media_type in _TEXT_NAMES.values()}
_HTML_START = re.compile(
    rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_MAIL_FIELD = re.compile(rb"^(?:from|to|subject|date|message-id|received|mime-version|return-path|delivered-to):", re.I)
_XML_START = re.compile(rb"^\s*<\?xml\b")


def recognise(path: Path, file_name: str, declared_type: str | None) -> Recognised:
    """Family and media type of a file that is not empty. Reads only the start of it (of a zip, its directory)."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    by_content = _by_content(path, head, _suffix(file_name)) or _text_by_content(head, file_name)
    return by_content or _by_name(head, file_name, declared_type)


def _by_content(path: Path, head: bytes, suffix: str) -> Recognised | None:
    for magic, media_type in _PROGRAMS:
        if head.startswith(magic) and (magic != b"MZ" or b"\x00" in head[:64]):
            return Recognised(Family.UNSUPPORTED, media_type)
    for magic, media_type in _TIKA_MAGIC:
        if head.startswith(magic) and (magic != b"BM" or b"\x00" in head[:16]):
            return Recognised(Family.TIKA, media_type)
    if b"%PDF-" in head[:1024]:
        return Recognised(Family.TIKA, "application/pdf")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _by_directory(path, suffix)
    return None


def _by_directory(path: Path, suffix: str) -> Recognised:
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.lower() for name in archive.namelist()}
    except (zipfile.BadZipFile, ValueError, OSError):
        return Recognised(Family.TIKA, "application/zip")
    if "ofd.xml" in names:
        return Recognised(Family.OFD, "application/ofd")
    is_package = bool(names & {"[content_types].xml", "mimetype", "meta-inf/container.xml"})
    if is_package or suffix in _PACKAGE_NAMES:
        return Recognised(Family.TIKA, "application/zip")
    return Recognised(Family.ARCHIVE, "application/zip")


def _text_by_content(head: bytes, file_name: str) -> Recognised | None:
    if _HTML_START.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Recognised(Family.HTML, "text/html")
    fields = [line for line in head.split(b"\n\r\n")[0].split(b"\n\n")[0].splitlines() if _MAIL_FIELD.match(line)]
    starts_as_mail = re.match(rb"^[!-9;-~]+:[ \t]", head) is not None
    if starts_as_mail and len(fields) >= (2 if _suffix(file_name) in {".eml", ".mht"} else 3):
        return Recognised(Family.MAIL, "message/rfc822")
    return None


def _by_name(head: bytes, file_name: str, declared_type: str | None) -> Recognised:
    known = _TEXT_NAMES.get(_suffix(file_name))
    if known is None:
        known = _DECLARED.get((declared_type or "").partition(";")[0].strip().lower())
    if known:
        return Recognised(*known)
    if _XML_START.match(head) or not looks_like_text(head):
        return Recognised(Family.TIKA, "application/octet-stream")
    return Recognised(Family.TEXT, "text/plain", contradicts_name=_suffix(file_name) in _OTHER_FORMATS)


def looks_like_text(head: bytes) -> bool:
    """True when the bytes decode in some charset to something that a person may have written."""
    decoded = decode(head[: len(head) // 4 * 4])
    return decoded.damaged <= len(decoded.text) // 200 + 1 and plausibility(decoded.text) >= _TEXT_PLAUSIBILITY


def _suffix(file_name: str) -> str:
    return PurePosixPath(file_name.replace("\\", "/")).suffix.lower()
