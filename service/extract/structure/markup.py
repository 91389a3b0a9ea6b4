"""Markup text → element tree."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree, html

from service.extract.structure.inline import name_of
from service.extract.tidy.clean import clean

_XML_CHARACTERS = re.compile("[\ufffe\uffff]")


def parse_xhtml(xhtml: str) -> Any:
    """Root element of XHTML; its characters are cleaned, broken markup is read as far as it goes."""
    parser = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True, remove_pis=True)
    data = _XML_CHARACTERS.sub("", clean(xhtml)).encode("utf-8")
    root = etree.fromstring(data, parser) if data.strip() else None
    return etree.Element("html") if root is None else root


def parse_html(text: str) -> Any:
    """Root element of a web page."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    data = _XML_CHARACTERS.sub("", clean(text)).encode("utf-8")
    root = html.document_fromstring(data, parser=parser, ensure_head_body=True) if data.strip() else None
    return etree.Element("html") if root is None else root


def body_of(root: Any) -> Any:
    """The body, or the root itself when it has none."""
    return next((child for child in root if name_of(child) == "body"), root)
