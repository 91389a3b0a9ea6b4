"""OFD (GB/T 33190), the Chinese page format: a ZIP of XML, which Tika takes for an archive."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lxml import etree

from service.config import ExtractSettings
from service.errors import Corrupt, NoText
from service.extract.pdf.glyphs import unify_glyphs
from service.extract.pdf.lines import Line
from service.extract.pdf.pages import Mending, PdfPages, draft_of
from service.extract.read.reading import Reading
from service.extract.tidy.clean import clean
from service.types import ExtractRequest

MEDIA_TYPE = "application/ofd"
ENTRY = "OFD.xml"
"""Name of the part that every OFD package has."""
_LARGEST_PART = 64 << 20
_MOST_PAGES = 20_000
_SAME_LINE = 0.5
_WORD_GAP = 0.6
_UNSOUND = (zipfile.BadZipFile, zlib.error, etree.LxmlError, KeyError, ValueError, EOFError, OSError, RuntimeError)


@dataclass(frozen=True, slots=True)
class _Piece:
    """One text object: left and top edge, width and height in millimetres."""

    left: float
    top: float
    width: float
    height: float
    text: str


def read_ofd(request: ExtractRequest, settings: ExtractSettings) -> Reading:
    """Text objects of every page, put together to lines by where they stand, then treated like a PDF.

    Raises:
        Corrupt: the package is damaged.
        NoText: its pages hold no text objects.
    """
    try:
        with zipfile.ZipFile(request.path) as package:
            root = _part(package, ENTRY)
            title = next((clean(element.text or "").strip() for element in root.iter("{*}Title")), None)
            pages = [_lines(_pieces(_part(package, name))) for name in _page_names(package, root)]
    except _UNSOUND as error:
        raise Corrupt("the file is damaged or cut off", reason=str(error)[:300]) from error
    if not any(pages):
        raise NoText("the pages of the file hold no text", media_type=MEDIA_TYPE)
    return Reading(
        MEDIA_TYPE,
        draft=draft_of(PdfPages(pages=pages), Mending.of(settings)),
        title=title or None,
        metadata={"page_count": len(pages)},
    )


def _part(package: zipfile.ZipFile, name: str) -> Any:
    if package.getinfo(name).file_size > _LARGEST_PART:
        raise ValueError(f"{name} is too large")
    return etree.fromstring(package.read(name), etree.XMLParser(resolve_entities=False, no_network=True))


def _page_names(package: zipfile.ZipFile, root: Any) -> list[str]:
    names: list[str] = []
    for element in root.iter("{*}DocRoot"):
        document_name = _resolved("", element.text)
        for page in _part(package, document_name).iterfind("{*}Pages/{*}Page"):
            names.append(_resolved(posixpath.dirname(document_name), page.get("BaseLoc")))
    return names[:_MOST_PAGES]


def _resolved(folder: str, name: str | None) -> str:
    """Name of a part; one that starts with a slash is not relative."""
    name = (name or "").strip()
    return posixpath.normpath(name.lstrip("/") if name.startswith("/") else posixpath.join(folder, name))


def _pieces(page: Any) -> Iterable[_Piece]:
    for item in page.iter("{*}TextObject"):
        text = unify_glyphs(clean("".join(code.text or "" for code in item.iter("{*}TextCode"))))
        edges = [float(number) for number in (item.get("Boundary") or "").split()]
        if text.strip() and len(edges) == 4:
            left, top, width, height = edges
            yield _Piece(left, top, width, height, text.strip())


def _lines(pieces: Iterable[_Piece]) -> list[Line]:
    """Pieces whose tops are less than half a height apart stand in one line, parted by a blank where a gap is wide."""
    rows: list[list[_Piece]] = []
    for piece in sorted(pieces, key=lambda one: (one.top, one.left)):
        if rows and piece.top - rows[-1][0].top < _SAME_LINE * max(piece.height, rows[-1][0].height):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [Line(_joined(sorted(row, key=lambda one: one.left)), after_gap=True) for row in rows]


def _joined(row: list[_Piece]) -> str:
    text = row[0].text
    for before, piece in pairwise(row):
        is_apart = piece.left - (before.left + before.width) > _WORD_GAP * piece.height
        text += (" " if is_apart else "") + piece.text
    return text
