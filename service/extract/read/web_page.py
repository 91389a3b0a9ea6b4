"""HTML → draft blocks: charset declared and real, navigation left out."""

from __future__ import annotations

import re
from typing import Any

from lxml import html

from service.extract.read.decode import decode
from service.extract.read.reading import Reading
from service.extract.read.text_files import damage_of
from service.extract.structure.xhtml import Profile, read_xhtml

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.I)
_NUL = re.compile("[\x00-\x08\x0b\x0e-\x1f]")


def read_web_page(data: bytes, media_type: str, charset: str | None = None) -> Reading:
    """A web page or XHTML file."""
    declared = _CHARSET.search(data[:4096])
    decoded = decode(data, charset or (declared.group(1).decode("ascii") if declared else None))
    root = _parse(decoded.text)
    draft = read_xhtml(root, Profile(keep_line_ends=False))
    return Reading(
        media_type,
        draft=draft,
        title=_title(root),
        metadata={"encoding": decoded.encoding},
        notices=damage_of(decoded),
    )


def _parse(text: str) -> Any:
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    data = _NUL.sub("", text).encode("utf-8", "ignore")
    root = html.document_fromstring(data, parser=parser, ensure_head_body=True) if data.strip() else None
    return html.Element("html") if root is None else root


def _title(root: Any) -> str | None:
    title = root.findtext(".//title")
    return " ".join(title.split()) or None if title else None
