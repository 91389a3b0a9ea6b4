"""HTML → draft blocks: charset declared and real, navigation left out."""

from __future__ import annotations

import re
from typing import Any

from service.extract.read.decode import decode
from service.extract.read.reading import Reading
from service.extract.read.text_files import damage_of
from service.extract.structure.draft import Draft
from service.extract.structure.markup import parse_html
from service.extract.structure.xhtml import Profile, read_xhtml
from service.extract.web.navigation import drop_navigation
from service.types import BlockType

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.I)


def read_web_page(data: bytes, media_type: str, charset: str | None = None, *, whole_page: bool = False) -> Reading:
    """A web page or XHTML file. Navigation and the like are left out unless ``whole_page`` asks for everything."""
    declared = _CHARSET.search(data[:4096])
    decoded = decode(data, charset or (declared.group(1).decode("ascii") if declared else None))
    root = parse_html(decoded.text)
    if not whole_page:
        drop_navigation(root)
    draft = read_xhtml(root, Profile(keep_line_ends=False))
    return Reading(
        media_type,
        draft=draft,
        title=_title(root, draft),
        metadata={"encoding": decoded.encoding},
        notices=damage_of(decoded),
    )


def _title(root: Any, draft: Draft) -> str | None:
    """The title of the page; its main heading instead when the title is that heading with the site's name."""
    title = " ".join((root.findtext(".//title") or "").split())
    for block in draft.blocks:
        if block.type is BlockType.HEADING and block.level == 1 and block.text and block.text in title:
            return block.text
    return title or None
