"""A copy of an OOXML file with its marks, for Tika to read in place of the original."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from service.extract.ooxml.slides import annotate_notes, annotate_slide, order_slides
from service.extract.ooxml.word import annotate_word

_LARGEST_PART = 64 << 20
_LARGEST_PACKAGE = 512 << 20
_UNSOUND = (
    zipfile.BadZipFile, zlib.error, etree.LxmlError, KeyError, ValueError, EOFError, OSError, RuntimeError
)  # fmt: skip
"""What reading a damaged package raises (an unknown compression is a RuntimeError)."""
_DOCUMENT = "word/document.xml"
_PRESENTATION = "ppt/presentation.xml"
_SLIDE = re.compile(r"^ppt/slides/slide\d+\.xml$")
_NOTES = re.compile(r"^ppt/notesSlides/notesSlide\d+\.xml$")


def annotated_copy(path: Path, target: Path) -> bool:
    """Write the copy to ``target``; ``False`` (nothing to do, or a package that is not sound) leaves it to Tika."""
    try:
        with zipfile.ZipFile(path) as package:
            names = set(package.namelist())
            if sum(info.file_size for info in package.infolist()) > _LARGEST_PACKAGE:
                return False
            if _DOCUMENT in names:
                changed = _word_parts(package, names)
            elif _PRESENTATION in names:
                changed = _slide_parts(package, names)
            else:
                return False
            _write(package, target, changed)
    except _UNSOUND:
        target.unlink(missing_ok=True)
        return False
    return True


def _word_parts(package: zipfile.ZipFile, names: set[str]) -> dict[str, bytes]:
    document = _part(package, _DOCUMENT)
    styles = _part(package, "word/styles.xml") if "word/styles.xml" in names else None
    numbering = _part(package, "word/numbering.xml") if "word/numbering.xml" in names else None
    annotate_word(document, styles, numbering)
    return {_DOCUMENT: _bytes(document)}


def _slide_parts(package: zipfile.ZipFile, names: set[str]) -> dict[str, bytes]:
    relationships_name = "ppt/_rels/presentation.xml.rels"
    presentation, relationships = _part(package, _PRESENTATION), _part(package, relationships_name)
    order_slides(presentation, relationships)
    changed = {_PRESENTATION: _bytes(presentation), relationships_name: _bytes(relationships)}
    kinds: tuple[tuple[re.Pattern[str], Callable[[Any], None]], ...] = (
        (_SLIDE, annotate_slide),
        (_NOTES, annotate_notes),
    )
    for pattern, annotate in kinds:
        for name in filter(pattern.match, names):
            part = _part(package, name)
            annotate(part)
            changed[name] = _bytes(part)
    return changed


def _part(package: zipfile.ZipFile, name: str) -> Any:
    if package.getinfo(name).file_size > _LARGEST_PART:
        raise ValueError(f"{name} is too large to annotate")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    return etree.fromstring(package.read(name), parser)


def _bytes(root: Any) -> bytes:
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return written


def _write(package: zipfile.ZipFile, target: Path, changed: dict[str, bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as copy:
        for name in dict.fromkeys(package.namelist()):
            copy.writestr(name, changed[name] if name in changed else package.read(name))
